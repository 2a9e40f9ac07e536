//! The arithmetic of leases for a fleet.

use crate::Shape;

const HOUR_MS: u64 = 3_600_000;

/// The processes that share a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "values that a caller knows")]
pub struct Fleet {
    /// The largest number of generators alive at once, those included that a deployment starts before it stops others.
    pub holders: u64,
    /// Number of processes in an hour that end without a last moment: killed, out of memory, evicted. Their numbers stay granted
    /// until their leases end; a clean stop returns a number at once.
    pub kills_per_hour: u64,
}

/// The numbers, writes and waits that a fleet needs.
///
/// ```
/// use polyflake_lease::{Fleet, Plan, Shape};
///
/// let fleet = Fleet { holders: 200, kills_per_hour: 40 };
/// let plan = Plan::new(&Shape::sno(0..=1023)?, 3_600_000, fleet);
/// assert_eq!((plan.needed, plan.capacity, plan.fits()), (240, 1024, true));
/// assert!(!Plan::new(&Shape::sno(0..=219)?, 3_600_000, fleet).fits());
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The fleet.
    pub fleet: Fleet,
    /// The length of a lease, in milliseconds.
    pub lease_ms: u64,
    /// Number of records needed: one for each holder, and one for each kill within a lease.
    pub needed: u64,
    /// Number of records that the namespace can have.
    pub capacity: u64,
    /// The longest lease for which the namespace has enough, in milliseconds; `None` if it is too small for the holders alone.
    pub longest_lease_ms: Option<u64>,
    /// Number of renewals in a second.
    pub renewals_per_second: f64,
    /// The longest absence of the store that no holder notices, whenever it begins, in milliseconds: two thirds of a lease.
    pub unnoticed_ms: u64,
    /// Longest wait for a killed process's number, if a holder insists on it, in milliseconds.
    pub wait_ms: u64,
}

impl Plan {
    /// The longest lease that there is: a year.
    const ANY: u64 = 366 * 24 * HOUR_MS;

    /// The arithmetic for a fleet in a namespace of this shape, under leases of `lease_ms` milliseconds.
    pub fn new(shape: &Shape, lease_ms: u64, fleet: Fleet) -> Self {
        let Fleet { holders, kills_per_hour } = fleet;
        let capacity = shape.capacity();
        let kills = u128::from(kills_per_hour) * u128::from(lease_ms);
        let kills = u64::try_from(kills.div_ceil(HOUR_MS.into())).unwrap_or(u64::MAX);
        let spare = capacity.checked_sub(holders);
        let longest = |spare: u64| match kills_per_hour {
            0 => Self::ANY,
            kills => spare.saturating_mul(HOUR_MS).checked_div(kills).unwrap_or(0).min(Self::ANY),
        };
        Self {
            fleet,
            lease_ms,
            needed: holders.saturating_add(kills),
            capacity,
            longest_lease_ms: spare.map(longest).filter(|longest| *longest > 0),
            renewals_per_second: precise(holders) / (precise(lease_ms.max(1)) / 4000.0),
            unnoticed_ms: lease_ms / 3 * 2,
            wait_ms: lease_ms,
        }
    }

    /// Returns whether the namespace has enough numbers.
    pub fn fits(&self) -> bool {
        self.needed <= self.capacity
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
const fn precise(value: u64) -> f64 {
    value as f64
}
