//! Lease capacity planning for a fleet.

use crate::Shape;

const HOUR_MS: u64 = 3_600_000;

/// The processes that share a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "values that a caller knows")]
pub struct Fleet {
    /// The maximum number of generators that exist at the same time, including new generators that a deployment starts
    /// before it stops the old generators.
    pub holders: u64,
    /// The number of processes per hour that end without a clean shutdown, for example because they are killed or evicted,
    /// or because they run out of memory. Their worker IDs remain granted until their leases end, whereas a clean shutdown
    /// releases a worker ID immediately.
    pub kills_per_hour: u64,
}

/// A capacity plan for a fleet: how many worker IDs the fleet needs, how often it renews leases, and how long its processes
/// may have to wait.
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
    /// The fleet for which the plan was calculated.
    pub fleet: Fleet,
    /// The length of a lease in milliseconds.
    pub lease_ms: u64,
    /// The number of records that the fleet needs: one for each holder, and one for each process that is killed within one
    /// lease duration.
    pub needed: u64,
    /// The number of records that the namespace can have.
    pub capacity: u64,
    /// The longest lease, in milliseconds, for which the namespace has enough worker IDs, or `None` if the namespace has
    /// too few worker IDs for a lease of any length.
    pub longest_lease_ms: Option<u64>,
    /// The number of renewals per second that the store receives.
    pub renewals_per_second: f64,
    /// The longest store outage, in milliseconds, that affects no holder regardless of when the outage starts. It is two
    /// thirds of the lease duration.
    pub unnoticed_ms: u64,
    /// The longest time, in milliseconds, that a holder may have to wait if it requires the worker ID of a killed process.
    pub wait_ms: u64,
}

impl Plan {
    /// The longest possible lease: a year.
    const MAX_LEASE_MS: u64 = 366 * 24 * HOUR_MS;

    /// Calculates the plan for a fleet whose leases last `lease_ms` milliseconds, in a namespace with the given shape.
    pub fn new(shape: &Shape, lease_ms: u64, fleet: Fleet) -> Self {
        let Fleet { holders, kills_per_hour } = fleet;
        let capacity = shape.capacity();
        let kills = u128::from(kills_per_hour) * u128::from(lease_ms);
        let kills = u64::try_from(kills.div_ceil(HOUR_MS.into())).unwrap_or(u64::MAX);
        let spare = capacity.checked_sub(holders);
        let longest = |spare: u64| match kills_per_hour {
            0 => Self::MAX_LEASE_MS,
            kills => spare
                .saturating_mul(HOUR_MS)
                .checked_div(kills)
                .unwrap_or(0)
                .min(Self::MAX_LEASE_MS),
        };
        Self {
            fleet,
            lease_ms,
            needed: holders.saturating_add(kills),
            capacity,
            longest_lease_ms: spare.map(longest).filter(|longest| *longest > 0),
            renewals_per_second: to_f64(holders) / (to_f64(lease_ms.max(1)) / 4000.0),
            unnoticed_ms: lease_ms / 3 * 2,
            wait_ms: lease_ms,
        }
    }

    /// Returns whether the namespace has enough worker IDs for the fleet.
    pub fn fits(&self) -> bool {
        self.needed <= self.capacity
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
const fn to_f64(value: u64) -> f64 {
    value as f64
}
