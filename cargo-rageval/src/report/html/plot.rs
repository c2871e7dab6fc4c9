//! The plots, drawn by `plotters` as SVG, with a title and a description for those who do not see them.
//!
//! A plot's colours are attributes that `report.css` maps to those of the light and the dark page. No text from outside stands in a plot but in its
//! title and description, which are escaped here.

use maud::{Markup, PreEscaped, html};
use plotters::{
    coord::Shift,
    drawing::DrawingAreaErrorKind,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

/// Text and axes.
const INK: RGBColor = RGBColor(0x24, 0x29, 0x2F);
/// Lines of the grid.
const GRID: RGBColor = RGBColor(0xE1, 0xE4, 0xE8);
/// Cases of this run.
const NOW: RGBColor = RGBColor(0x3B, 0x6E, 0xA5);
/// Cases of the worst tenth.
const TAIL: RGBColor = RGBColor(0xB4, 0x45, 0x1F);
/// The baseline.
const BEFORE: RGBColor = RGBColor(0x6E, 0x74, 0x7C);
/// Bars of the policy.
const BAR: RGBColor = RGBColor(0x8A, 0x1C, 0x1C);

/// Parts that a histogram's range from 0 to 1 is cut into.
pub(super) const BINS: usize = 20;
/// The same of the small ones.
const SMALL_BINS: usize = 10;

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// How many scores lie in each of so many equal parts from 0 to 1; 1 lies in the last.
pub(super) fn binned(scores: impl IntoIterator<Item = f64>, bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for score in scores {
        // 0.15 * 20 must be 3, whatever its last bit says.
        let bin = (score * bins as f64 + 1e-9).floor().max(0.0) as usize;
        if let Some(count) = counts.get_mut(bin.min(bins.saturating_sub(1))) {
            *count += 1;
        }
    }
    counts
}

/// What a histogram shows.
pub(super) struct Histogram<'h> {
    /// Its title.
    pub(super) title: String,
    /// What is to be seen, for those who do not see it.
    pub(super) description: String,
    /// Cases of this run, by bin.
    pub(super) now: &'h [usize],
    /// Those among them that are the worst tenth.
    pub(super) tail: &'h [usize],
    /// Cases of the baseline, by bin; empty where there is none.
    pub(super) before: &'h [usize],
    /// Bars with their names.
    pub(super) bars: &'h [(&'static str, f64)],
}

impl Histogram<'_> {
    /// Draws it.
    pub(super) fn draw(&self) -> Markup {
        svg((460, 190), &self.title, &self.description, |root| {
            let highest = self.now.iter().chain(self.before).copied().max().unwrap_or(0).max(1) as f64;
            // A row above the columns for the name of each bar.
            let top = highest * (1.06 + 0.11 * self.bars.len() as f64);
            let mut chart = ChartBuilder::on(root)
                .margin(4)
                .margin_right(10)
                .x_label_area_size(20)
                .y_label_area_size(34)
                .build_cartesian_2d(0.0..1.0, 0.0..top)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(GRID)
                .axis_style(INK)
                .label_style(("sans-serif", 11).into_font().color(&INK))
                .x_labels(6)
                .y_labels(4)
                .y_label_formatter(&|cases| if cases.fract() == 0.0 { format!("{cases:.0}") } else { String::new() })
                .x_label_formatter(&|score| format!("{score:.1}"))
                .draw()?;
            let width = 1.0 / self.now.len().max(1) as f64;
            let column = |bin: usize, from: usize, to: usize, colour: &RGBColor| {
                let left = bin as f64 * width;
                let corners = [(left + width * 0.08, from as f64), (left + width * 0.92, to as f64)];
                Rectangle::new(corners, colour.filled())
            };
            for (bin, (now, tail)) in self.now.iter().zip(self.tail).enumerate() {
                if tail < now {
                    chart.plotting_area().draw(&column(bin, *tail, *now, &NOW))?;
                }
                if *tail > 0 {
                    chart.plotting_area().draw(&column(bin, 0, *tail, &TAIL))?;
                }
            }
            if self.before.iter().any(|cases| *cases > 0) {
                let steps = self.before.iter().enumerate().flat_map(|(bin, cases)| {
                    let (left, cases) = (bin as f64 * width, *cases as f64);
                    [(left, cases), (left + width, cases)]
                });
                chart.plotting_area().draw(&PathElement::new(steps.collect::<Vec<_>>(), BEFORE.stroke_width(2)))?;
            }
            for (row, (name, at)) in self.bars.iter().enumerate() {
                chart.plotting_area().draw(&PathElement::new(vec![(*at, 0.0), (*at, top)], BAR.stroke_width(1)))?;
                let height = top - highest * 0.11 * row as f64;
                // Names of bars stand on their left where there is room, so that none leaves the plot.
                let side = if *at > 0.3 { HPos::Right } else { HPos::Left };
                let style = ("sans-serif", 11).into_font().color(&BAR).pos(Pos::new(side, VPos::Top));
                let shift = if *at > 0.3 { -0.008 } else { 0.008 };
                chart.plotting_area().draw(&Text::new(format!("{name} {at}"), (at + shift, height), style))?;
            }
            Ok(())
        })
    }
}

/// A histogram without axes, for a cell of a table.
pub(super) fn small(title: &str, scores: &[f64], tail: usize) -> Markup {
    let all = binned(scores.iter().copied(), SMALL_BINS);
    let lowest = binned(scores.iter().take(tail).copied(), SMALL_BINS);
    let highest = all.iter().copied().max().unwrap_or(0).max(1) as f64;
    svg((92, 20), title, "", |root| {
        for (bin, (all, lowest)) in all.iter().zip(&lowest).enumerate() {
            let left = bin as i32 * 9 + 1;
            let height = |cases: usize| if cases == 0 { 0 } else { (cases as f64 / highest * 18.0).ceil() as i32 };
            if *all > 0 {
                root.draw(&Rectangle::new([(left, 19 - height(*all)), (left + 7, 19)], NOW.filled()))?;
            }
            if *lowest > 0 {
                root.draw(&Rectangle::new([(left, 19 - height(*lowest)), (left + 7, 19)], TAIL.filled()))?;
            }
        }
        root.draw(&PathElement::new(vec![(0, 19), (92, 19)], GRID.stroke_width(1)))
    })
}

/// Pairs of numbers from 0 to 1, with the line on which both are equal. Pairs that are equal lie on each other: the larger the mark, the more.
pub(super) fn scatter(title: &str, description: &str, axes: (&str, &str), pairs: &[(f64, f64)]) -> Markup {
    svg((300, 270), title, description, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(8)
            .margin_right(14)
            .x_label_area_size(34)
            .y_label_area_size(44)
            .build_cartesian_2d(-0.04..1.04, -0.04..1.04)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", 11).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 12).into_font().color(&INK))
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|score| format!("{score:.1}"))
            .y_label_formatter(&|score| format!("{score:.1}"))
            .x_desc(axes.0)
            .y_desc(axes.1)
            .draw()?;
        chart.plotting_area().draw(&PathElement::new(vec![(0.0, 0.0), (1.0, 1.0)], BEFORE.stroke_width(1)))?;
        let mut marks = std::collections::BTreeMap::new();
        for (x, y) in pairs {
            let grid = |number: &f64| (number * 100.0).round() as i32;
            *marks.entry((grid(x), grid(y))).or_insert(0_usize) += 1;
        }
        for ((x, y), pairs) in marks {
            let size = (2.0 + (pairs as f64).sqrt() * 1.5).min(14.0) as i32;
            let place = (f64::from(x) / 100.0, f64::from(y) / 100.0);
            chart.plotting_area().draw(&Circle::new(place, size, NOW.mix(0.8).filled()))?;
        }
        Ok(())
    })
}

/// Draws a plot and gives it its title and description. One that can't be drawn says so in its place.
fn svg(size: (u32, u32), title: &str, description: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Markup {
    let mut text = String::new();
    let drawn = {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root).and_then(|()| root.present())
    };
    match (drawn, text.split_once('>')) {
        (Ok(()), Some((_, inside))) => {
            let (width, height) = size;
            html! {
                (PreEscaped(format!("<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">")))
                title { (title) }
                @if !description.is_empty() { desc { (description) } }
                (PreEscaped(inside))
            }
        }
        _ => html! { span.muted { "no plot: " (title) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_of_one_lies_in_the_last_bin_and_a_bound_in_the_upper_one() {
        assert_eq!(
            binned([0.0, 0.15, 0.95, 1.0], BINS)
                .iter()
                .enumerate()
                .filter(|(_, n)| **n > 0)
                .map(|(i, n)| (i, *n))
                .collect::<Vec<_>>(),
            [(0, 1), (3, 1), (19, 2)]
        );
    }

    #[test]
    fn a_plot_has_a_title_and_escapes_it() {
        let plot = small("a <b> & c", &[0.0, 1.0], 1).into_string();
        assert!(
            plot.starts_with("<svg class=\"plot\" viewBox=\"0 0 92 20\" width=\"92\" height=\"20\" role=\"img\">"),
            "{plot}"
        );
        assert!(plot.contains("<title>a &lt;b&gt; &amp; c</title>"), "{plot}");
        assert!(plot.trim_end().ends_with("</svg>"), "{plot}");
    }

    #[test]
    fn a_histogram_marks_the_worst_tenth_the_baseline_and_the_bars() {
        let now = binned([0.0, 0.5, 1.0], BINS);
        let tail = binned([0.0], BINS);
        let plot = Histogram {
            title: "t".into(),
            description: "d".into(),
            now: &now,
            tail: &tail,
            before: &now,
            bars: &[("min", 0.5)],
        };
        let plot = plot.draw().into_string();
        for colour in [NOW, TAIL, BEFORE, BAR] {
            let colour = format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
            assert!(plot.contains(&colour), "{colour} is not in {plot}");
        }
        assert!(plot.contains("min 0.5") && plot.contains("<desc>d</desc>"), "{plot}");
    }
}
