//! The state of memory, for kernels that write much of it. At the first write to a page the system has to find and clear it;
//! the cleared page is in the caches, which non-temporal stores must empty first.

/// Larger than any cache, so non-temporal stores may pay off.
pub(crate) const MANY: usize = 32 << 20;

/// Bytes of a page of x86-64. Where pages are larger, the system refuses most of this size's multiples as addresses.
#[cfg(all(feature = "std", target_os = "linux"))]
const PAGE: usize = 4096;

/// Returns whether samples of these bytes lie in resident pages; `false` where the system cannot tell.
#[cfg(all(feature = "std", target_os = "linux"))]
pub(crate) fn is_touched(bytes: &[u8]) -> bool {
    let samples = bytes.len() / 8;
    samples > 0 && bytes.iter().step_by(samples).all(has_page)
}

#[cfg(not(all(feature = "std", target_os = "linux")))]
pub(crate) const fn is_touched(_: &[u8]) -> bool {
    false
}

#[cfg(all(feature = "std", target_os = "linux"))]
fn has_page(byte: &u8) -> bool {
    let in_page = core::ptr::from_ref(byte).addr() % PAGE;
    let page = core::ptr::from_ref(byte).wrapping_byte_sub(in_page);
    let mut resident = 0;
    // SAFETY: nothing is read or written but `resident`, a byte for each page, of which this is one.
    #[allow(unsafe_code)]
    let asked = unsafe { libc::mincore(page.cast_mut().cast(), 1, &raw mut resident) };
    asked == 0 && resident & 1 == 1
}

#[cfg(all(test, feature = "std", target_os = "linux", not(miri)))]
mod tests {
    use super::is_touched;

    #[test]
    fn memory_is_touched_once_it_is_written() {
        let mut bytes = std::vec![0_u8; super::MANY];
        assert!(!is_touched(&bytes), "expected fresh memory from the system");
        bytes.fill(1);
        assert!(is_touched(&bytes));
        assert!(!is_touched(&[]));
    }
}
