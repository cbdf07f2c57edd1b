//! What is sent: numbers that go on from message to message, so that each item can be checked.

/// Fills the message of this number.
#[inline]
pub(crate) fn fill<const N: usize>(message: &mut [u32; N], number: u64) {
    let mut item = first::<N>(number);
    for place in message {
        *place = item;
        item = item.wrapping_add(1);
    }
}

/// Whether every item is what `fill` wrote. Looks at all of them, whatever it finds, which is quicker than to ask of
/// each whether to go on.
#[inline]
pub(crate) fn is_right<const N: usize>(message: &[u32; N], number: u64) -> bool {
    let mut item = first::<N>(number);
    let mut wrong = 0;
    for place in message {
        wrong |= place ^ item;
        item = item.wrapping_add(1);
    }
    wrong == 0
}

/// Goes round after 2³² items, which no ring holds.
#[allow(clippy::cast_possible_truncation, reason = "meant")]
fn first<const N: usize>(number: u64) -> u32 {
    number.wrapping_mul(N as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_wrong_item_shows() {
        let mut message = [0; 128];
        fill(&mut message, 7);
        assert!(is_right(&message, 7));
        assert!(!is_right(&message, 8));
        for i in 0..128 {
            let mut torn = message;
            torn[i] ^= 1;
            assert!(!is_right(&torn, 7));
        }
    }
}
