//! Medians, their intervals, and percentiles.

/// A median over rounds, and the interval that holds the true one with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) n: usize,
}

impl Estimate {
    /// From order statistics: it assumes no distribution, only that rounds are independent. With fewer than six
    /// values no interval has 95 %, and the whole range is given.
    pub(crate) fn of(values: &[f64]) -> Option<Estimate> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let last = n.checked_sub(1)?;
        let cut = cut(n);
        Some(Estimate {
            median: f64::midpoint(sorted[last / 2], sorted[n / 2]),
            low: sorted[cut],
            high: sorted[last - cut],
            n,
        })
    }
}

/// How many values to leave out at either end, so that the range of the rest still holds the median with 95 %: the
/// largest `k` for which P(Binomial(n, 1/2) <= k) <= 2.5 %.
fn cut(n: usize) -> usize {
    let mut term = 0.5f64.powf(n as f64);
    let mut sum = 0.0;
    for k in 0..n / 2 {
        sum += term;
        if sum > 0.025 {
            return k.saturating_sub(1);
        }
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    0
}

/// The shares of a sample at which latencies are reported.
pub(crate) const QUANTILES: [f64; 9] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1.0];

/// A sorted sample.
pub(crate) struct Sorted(Vec<u64>);

impl Sorted {
    pub(crate) fn new(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        Sorted(values)
    }

    /// The smallest value that a share `q` of the sample does not exceed. Of an empty sample 0.
    pub(crate) fn at(&self, q: f64) -> f64 {
        let rank = q * self.0.len() as f64 - 1e-9;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the length"
        )]
        let index = rank.max(1.0).ceil() as usize - 1;
        self.0.get(index).map_or(0.0, |&value| value as f64)
    }

    /// The curve, as far as the sample is large enough: with fewer than five values beyond it, a share says nothing.
    /// The maximum comes last, as share 1.
    pub(crate) fn curve(&self) -> Vec<(f64, f64)> {
        let n = self.0.len() as f64;
        let enough = |q: &f64| *q >= 1.0 || (1.0 - q) * n >= 5.0 - 1e-6;
        QUANTILES.into_iter().filter(enough).map(|q| (q, self.at(q))).collect()
    }
}
