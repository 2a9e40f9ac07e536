//! The instruction-set level of this CPU, which is detected once and can be lowered on request.
//!
//! A level is created only for a set that the CPU supports, so having a level proves that its kernels may be called. With
//! `std`, the `POLYFLAKE_CPU` environment variable simulates a weaker CPU. The variable contains the name of the highest
//! set to use, or `scalar` for the baseline. It is read only once. The name of a set that the CPU does not support, or any
//! other word, has no effect.

use super::{InstructionSet, Kernels};

/// An instruction-set level that this CPU supports. Each level includes all lower levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(InstructionSet);

impl Level {
    /// The level that uses only the target's baseline instructions.
    pub const SCALAR: Self = Self(InstructionSet::Scalar);

    /// Returns the level's instruction set.
    pub const fn instruction_set(self) -> InstructionSet {
        self.0
    }

    /// Returns a kernel from the set's table.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "so that no table is left")]
    pub(super) fn kernel<K>(self, of: impl FnOnce(&Kernels) -> K) -> K {
        self.0.kernel(of)
    }
}

/// Returns the highest level that this CPU supports. If the `POLYFLAKE_CPU` environment variable selects a lower level,
/// returns that level instead.
#[inline]
pub fn level() -> Level {
    #[cfg(feature = "std")]
    return cached::level();
    #[cfg(not(feature = "std"))]
    return highest_level();
}

/// Returns all levels up to [`level`], in ascending order.
pub fn levels() -> impl Iterator<Item = Level> {
    let highest = level();
    InstructionSet::ALL.iter().map(|&set| Level(set)).filter(move |&level| level <= highest)
}

fn highest_level() -> Level {
    Level(
        *InstructionSet::ALL
            .iter()
            .take_while(|set| set.is_supported())
            .last()
            .unwrap_or(&InstructionSet::Scalar),
    )
}

/// Caches the level. Threads that detect the level at the same time get the same result, so no lock is needed. A lock could
/// remain held after a fork.
#[cfg(feature = "std")]
mod cached {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{InstructionSet, Level, highest_level};

    const NOT_DETECTED: u8 = u8::MAX;

    /// An index into [`InstructionSet::ALL`], or [`NOT_DETECTED`].
    static CACHED_LEVEL: AtomicU8 = AtomicU8::new(NOT_DETECTED);

    #[inline]
    pub(super) fn level() -> Level {
        match InstructionSet::ALL.get(usize::from(CACHED_LEVEL.load(Ordering::Relaxed))) {
            Some(&set) => Level(set),
            None => detect(),
        }
    }

    #[cold]
    fn detect() -> Level {
        let requested = std::env::var_os("POLYFLAKE_CPU");
        let level = limit_to(highest_level(), requested.as_ref().and_then(|name| name.to_str()));
        let index = InstructionSet::ALL.iter().position(|&set| set == level.instruction_set());
        let index = index.and_then(|index| u8::try_from(index).ok());
        // Relaxed ordering is sufficient, because each thread computes the same index, and the index does not guard any
        // other memory.
        CACHED_LEVEL.store(index.unwrap_or(NOT_DETECTED), Ordering::Relaxed);
        level
    }

    /// Lowers the level to the set with the given name. Any other name has no effect.
    pub(super) fn limit_to(level: Level, name: Option<&str>) -> Level {
        let requested = InstructionSet::ALL.iter().find(|set| Some(set.name()) == name);
        requested.map_or(level, |&set| level.min(Level(set)))
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::{cached::limit_to, *};

    #[test]
    fn levels_range_from_scalar_to_the_host_level() {
        assert_eq!(levels().next(), Some(Level::SCALAR));
        assert_eq!(levels().last(), Some(level()));
        assert!(levels().is_sorted());
        assert!(levels().all(|level| level.instruction_set().is_supported()));
    }

    #[test]
    fn a_level_name_only_lowers_the_level() {
        let highest = highest_level();
        for &set in InstructionSet::ALL {
            assert_eq!(
                limit_to(highest, Some(set.name())).instruction_set(),
                set.min(highest.instruction_set())
            );
            assert_eq!(limit_to(Level::SCALAR, Some(set.name())), Level::SCALAR);
        }
        assert_eq!(limit_to(highest, Some("pentium")), highest);
        assert_eq!(limit_to(highest, None), highest);
    }

    /// Asserts that the level named in `POLYFLAKE_CPU` is selected, so that a mistyped name makes the test fail.
    #[test]
    fn polyflake_cpu_selects_the_level() {
        if let Ok(name) = std::env::var("POLYFLAKE_CPU") {
            assert_eq!(level().instruction_set().name(), name);
        }
    }
}
