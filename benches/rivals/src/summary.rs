//! Median and spread of the figures of one row.

use serde::Serialize;

/// The middle of some figures, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The figure in the middle.
    pub median: f64,
    /// A quarter of the figures are below.
    pub first_quartile: f64,
    /// A quarter of the figures are above.
    pub third_quartile: f64,
    /// The smallest figure.
    pub minimum: f64,
}

impl Summary {
    /// Of any figures, in any order; `None` without figures.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            first_quartile: quantile(&sorted, 0.25)?,
            third_quartile: quantile(&sorted, 0.75)?,
            minimum: *sorted.first()?,
        })
    }
}

/// The figure below which `part` of the sorted figures are, with linear interpolation between neighbours.
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let position = part * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_odd_number_is_the_middle_one() {
        let summary = Summary::of([5.0, 1.0, 4.0, 2.0, 3.0]).expect("five figures");
        assert_eq!(summary, Summary { median: 3.0, first_quartile: 2.0, third_quartile: 4.0, minimum: 1.0 });
    }

    #[test]
    fn between_two_figures_it_interpolates() {
        let summary = Summary::of([4.0, 1.0, 2.0, 3.0]).expect("four figures");
        assert_eq!(summary, Summary { median: 2.5, first_quartile: 1.75, third_quartile: 3.25, minimum: 1.0 });
    }

    #[test]
    fn one_figure_is_everything_and_none_is_nothing() {
        let one = Summary { median: 7.0, first_quartile: 7.0, third_quartile: 7.0, minimum: 7.0 };
        assert_eq!(Summary::of([7.0]), Some(one));
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn one_outlier_moves_neither_median_nor_quartiles() {
        let quiet = Summary::of([1.0; 9]).expect("nine figures");
        assert_eq!(Summary::of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 900.0]), Some(quiet));
    }
}
