//! Large files of lines, read in blocks of whole lines that are worked on side by side and taken up in order.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    thread,
};

use memchr::{memchr_iter, memrchr};

/// Bytes of a block: large enough that starting a thread for it costs nothing beside the work.
const BLOCK: usize = 1 << 21;
/// More threads than this wait for the file.
const MOST_THREADS: usize = 16;

/// Gives each block of the file at `path` to `work` on a thread, and what came of it to `take`, in the order of the file, with the number
/// of the block's first line from 1.
///
/// Memory grows with the number of threads and the longest block, not with the file. `cut` says how much of a block may be worked on now,
/// counted in bytes from its start; the rest begins the next block. It is at most the block's last line end; 0 asks for a longer block.
pub(super) fn for_each<T: Send>(
    path: &Path,
    cut: impl Fn(&[u8]) -> usize,
    work: impl Fn(&[u8]) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Flow,
) -> io::Result<()> {
    let mut file = File::open(path)?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let mut rest = Vec::new();
    let mut first_line = 1;
    loop {
        let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(threads);
        let mut ended = false;
        while blocks.len() < threads && !ended {
            let (block, at_end) = read(&mut file, std::mem::take(&mut rest), &cut, &mut rest)?;
            ended = at_end;
            blocks.push(block);
        }
        let work = |block: &[u8]| (work(block), memchr_iter(b'\n', block).count());
        let results: Vec<_> = match blocks.as_slice() {
            [only] => vec![work(only)],
            several => thread::scope(|scope| {
                let running: Vec<_> = several.iter().map(|block| scope.spawn(|| work(block))).collect();
                running.into_iter().map(join).collect()
            }),
        };
        for (result, lines) in results {
            match take(first_line, result) {
                Flow::On => first_line += lines,
                Flow::Stop => return Ok(()),
            }
        }
        if ended {
            return Ok(());
        }
    }
}

/// Whether the next block is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Stop,
}

/// The next block, and whether the file is at its end; what must wait goes to `rest`.
fn read(
    file: &mut File,
    mut block: Vec<u8>,
    cut: impl Fn(&[u8]) -> usize,
    rest: &mut Vec<u8>,
) -> io::Result<(Vec<u8>, bool)> {
    let mut wanted = BLOCK;
    loop {
        let missing = wanted.saturating_sub(block.len()) as u64;
        block.reserve(wanted.saturating_sub(block.len()));
        let got = Read::by_ref(file).take(missing).read_to_end(&mut block)?;
        if (got as u64) < missing {
            return Ok((block, true));
        }
        let end = cut(&block);
        if end > 0 {
            rest.extend_from_slice(&block[end..]);
            block.truncate(end);
            return Ok((block, false));
        }
        wanted = block.len() * 2;
    }
}

/// A panic of the work goes on in the caller, as it would without threads.
fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The end of the last whole line.
pub(super) fn last_line_end(block: &[u8]) -> usize {
    memrchr(b'\n', block).map_or(0, |position| position + 1)
}

/// The lines of a block with their place from 0, without line ends.
pub(super) fn lines(block: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let unfinished = (!block.is_empty() && !block.ends_with(b"\n")).then_some(block.len());
    let mut start = 0;
    let lines = memchr_iter(b'\n', block).chain(unfinished).map(move |end| {
        let line = &block[start..end];
        start = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    });
    lines.enumerate()
}
