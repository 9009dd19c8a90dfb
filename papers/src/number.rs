//! Numbers as the tables show them.

/// A whole number with separators, any other with six digits.
pub fn show(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { separated(value) } else { significant(value, 6) }
}

/// As [`show`], or a dash.
pub fn show_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// A share as percent.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

/// So many significant digits, without zeros at the end; whole numbers from there on.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i64 + 1;
    let decimals = usize::try_from(digits as i64 - magnitude).unwrap_or(0);
    if decimals == 0 {
        return separated(value.round());
    }
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The median, to six decimals: the microseconds of seconds, the nanoseconds of milliseconds, are all that clocks are good for.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        length if length % 2 == 1 => values[middle],
        _ => (f64::midpoint(values[middle - 1], values[middle]) * 1e6).round() / 1e6,
    }
}

fn separated(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.0, "0"),
            (273.0, "273"),
            (2_805_308_074.0, "2,805,308,074"),
            (-1_000.0, "-1,000"),
            (0.790_023_494, "0.790023"),
            (790.584_545, "790.585"),
            (1.09, "1.09"),
            (0.001, "0.001"),
        ] {
            assert_eq!(show(value), text);
        }
        assert_eq!(significant(9421.5, 3), "9,422");
        assert_eq!(significant(0.5549, 3), "0.555");
        assert_eq!(percent(0.005), "0.5 %");
        assert_eq!(percent(0.0019), "0.19 %");
        assert_eq!(percent(0.25), "25 %");
        assert_eq!(show_or_dash(None), "–");
    }
}
