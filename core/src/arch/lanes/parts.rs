//! Parts of groups with lengths that are known at compile time, so that kernels load and store them whole.

/// `N` items of a group, from `at`.
#[inline]
pub(in crate::arch) fn part<T, const N: usize>(group: &[T], at: usize) -> &[T; N] {
    group[at..].first_chunk().expect("a part lies in its group")
}

/// `N` items of a group, from `at`, to write to.
#[allow(dead_code, reason = "not every set stores parts")]
#[inline]
pub(in crate::arch) fn part_mut<T, const N: usize>(group: &mut [T], at: usize) -> &mut [T; N] {
    group[at..].first_chunk_mut().expect("a part lies in its group")
}
