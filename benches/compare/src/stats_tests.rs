//! Here, since the bench that shares `stats` has no test harness.

use crate::common::stats::*;

#[test]
fn intervals_are_those_of_the_tables() {
    // Sign test, 5 % two-sided: 6 values leave out none at either end, 9 one, 15 three, 20 five.
    for (n, cut) in [(6, 0), (8, 0), (9, 1), (15, 3), (20, 5)] {
        let values: Vec<f64> = (0..n).map(f64::from).collect();
        assert_eq!(Estimate::of(&values).unwrap().low, f64::from(cut), "{n}");
    }
}

#[test]
fn an_estimate_holds_its_median() {
    for n in 1..40 {
        let values: Vec<f64> = (0..n).map(f64::from).collect();
        let estimate = Estimate::of(&values).unwrap();
        assert!(estimate.low <= estimate.median && estimate.median <= estimate.high, "{estimate:?}");
    }
    assert_eq!(Estimate::of(&[]), None);
}

#[test]
fn percentiles_are_values_of_the_sample() {
    let sorted = Sorted::new((1..=1000).rev().collect());
    assert_eq!([0.5, 0.99, 0.999, 1.0].map(|q| sorted.at(q)), [500.0, 990.0, 999.0, 1000.0]);
    assert_eq!(sorted.curve().last(), Some(&(1.0, 1000.0)));
    assert_eq!(sorted.curve().iter().rev().nth(1).map(|point| point.0), Some(0.995));
}
