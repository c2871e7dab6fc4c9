//! `cargo rageval completions`.

use std::process::{Command, Stdio};

use super::{folder, passes, refuses, write};

#[test]
fn every_shell_gets_a_script_that_knows_the_subcommands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = passes(folder().path(), &["completions", shell]);
        assert!(
            script.contains("cargo-rageval") && script.contains("estimate") && script.contains("no-workflow"),
            "{shell}"
        );
    }
    assert!(refuses(folder().path(), &["completions", "csh"]).contains("invalid value 'csh'"));
}

#[test]
fn bash_completes_by_its_script() {
    let bash = |script: &str| Command::new("bash").args(["-c", script]).stdin(Stdio::null()).output();
    // Without bash there is nobody to ask.
    if bash("exit 0").is_err() {
        return;
    }
    let folder = folder();
    write(folder.path(), "completions.bash", &passes(folder.path(), &["completions", "bash"]));
    let completed = |words: &str| {
        let script = format!(
            "cd '{}' && source ./completions.bash && words=({words}) && COMP_WORDS=(\"${{words[@]}}\") && COMP_CWORD=$((${{#words[@]}} - 1)) && \
             f=$(complete -p cargo-rageval | sed 's/.*-F \\([^ ]*\\).*/\\1/') && \
             \"$f\" cargo-rageval \"${{words[-1]}}\" \"${{words[-2]}}\"; echo \"${{COMPREPLY[@]}}\"",
            folder.path().display()
        );
        String::from_utf8(bash(&script).expect("bash").stdout).expect("UTF-8").trim().to_owned()
    };
    assert_eq!(completed("cargo-rageval ini"), "init");
    assert_eq!(completed("cargo-rageval init --sam"), "--samples");
    assert_eq!(completed("cargo-rageval init --system ht"), "http");
}
