//! Parts of groups, whose lengths are known when compiling: kernels load and store them whole.

/// `N` bytes of a group, from `at`.
#[inline]
pub(super) fn part<const N: usize>(group: &[u8], at: usize) -> &[u8; N] {
    group[at..].first_chunk().expect("a part lies in its group")
}

/// `N` bytes of a group, from `at`, to write to.
#[cfg(not(target_arch = "wasm32"))]
#[inline]
pub(super) fn part_mut<const N: usize>(group: &mut [u8], at: usize) -> &mut [u8; N] {
    group[at..].first_chunk_mut().expect("a part lies in its group")
}
