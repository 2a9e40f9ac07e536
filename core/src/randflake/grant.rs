//! A grant, which specifies the node IDs that a generator may use and the time range in which the generator may use them.

use core::ops::{Range, RangeInclusive};

use super::{EPOCH, LAST_NODE, LAST_SECOND};
use crate::{Error, ErrorKind, Result};

/// The right to use one node ID, or a range of node IDs, from `start` until just before `end`. The start and the end are
/// Unix timestamps in seconds.
///
/// The issuer of grants must ensure that no two grants share a node ID in the same second. A grant can be used only once,
/// by one generator. Therefore the generator takes ownership of the grant, which can be neither copied nor cloned.
/// [`Grant::info`] returns the values of a grant for inspection.
///
/// ```
/// use polyflake::randflake::Grant;
///
/// let grant = Grant::new(42, 1_730_000_000, 1_730_003_600)?; // one hour, end exclusive
/// assert_eq!((grant.nodes(), grant.end() - grant.start()), (42..=42, 3600));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// Code that creates a second generator with the same grant does not compile:
///
/// ```compile_fail,E0382
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let first = Generator::builder(grant, [7; 16]).build()?;
/// let second = Generator::builder(grant, [7; 16]).build()?;
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// Nor does code that clones a grant:
///
/// ```compile_fail,E0599
/// use polyflake::randflake::Grant;
///
/// let clone = Grant::new(42, 1_730_000_000, 2_803_741_824)?.clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a grant is for one generator"]
pub struct Grant {
    terms: GrantInfo,
}

/// The node IDs and the time range of a grant, for inspection only. A `GrantInfo` does not confer the right to use the node
/// IDs.
///
/// ```
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824)?;
/// let terms = grant.info();
/// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
/// assert_eq!(ids.grant(), terms);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrantInfo {
    pub(super) first_node: u32,
    last_node: u32,
    start: i64,
    end: i64,
}

impl Grant {
    /// Creates a grant for one node ID.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// assert!(Grant::new(131_071, 1_730_000_000, 2_803_741_824).is_ok()); // the last node ID, for the whole time range
    /// let error = Grant::new(131_072, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.to_string(), "expected node from 0 to 131071, found 131072");
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` unless the node ID is in 0..=131071 and 1730000000 <= start < end <= 2803741824.
    pub fn new(node: u32, start: i64, end: i64) -> Result<Self> {
        Error::check_range("node", node, 0..=LAST_NODE)?;
        Self::with_nodes(node..=node, start, end)
    }

    /// Creates a grant for a range of node IDs. When a node ID has no sequence numbers left in the current second, the
    /// generator continues with the next node ID.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let ten = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824)?; // 1,310,720 IDs per second
    /// assert_eq!(ten.nodes().count(), 10);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Grant::new`], and `out_of_range` for an empty range.
    pub fn with_nodes(nodes: RangeInclusive<u32>, start: i64, end: i64) -> Result<Self> {
        let (first_node, last_node) = nodes.into_inner();
        Error::check_range("nodes", first_node, 0..=LAST_NODE)?;
        Error::check_range("nodes", last_node, first_node..=LAST_NODE)?;
        let check = |name, second, range| {
            Error::check_range(name, second, range).map_err(|error| error.in_unit("s"))
        };
        check("start", start, EPOCH..=LAST_SECOND)?;
        check("end", end, start + 1..=LAST_SECOND + 1)?;
        Ok(Self { terms: GrantInfo { first_node, last_node, start, end } })
    }

    /// Returns the node IDs and the time range for inspection.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let terms = Grant::new(42, 1_730_000_000, 2_803_741_824)?.info();
    /// assert_eq!((terms.nodes(), terms.start()), (42..=42, 1_730_000_000));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn info(&self) -> GrantInfo {
        self.terms
    }

    /// Returns the range of node IDs.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// assert_eq!(Grant::new(42, 1_730_000_000, 2_803_741_824)?.nodes(), 42..=42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn nodes(&self) -> RangeInclusive<u32> {
        self.terms.nodes()
    }

    /// Returns the first second of the grant, as a Unix timestamp.
    ///
    /// ```
    /// use polyflake::randflake::{EPOCH, Grant};
    ///
    /// assert_eq!(Grant::new(42, EPOCH, 2_803_741_824)?.start(), 1_730_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn start(&self) -> i64 {
        self.terms.start
    }

    /// Returns the first second after the grant, as a Unix timestamp.
    ///
    /// ```
    /// use polyflake::randflake::{Grant, LAST_SECOND};
    ///
    /// assert_eq!(Grant::new(42, 1_730_000_000, LAST_SECOND + 1)?.end(), 2_803_741_824);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn end(&self) -> i64 {
        self.terms.end
    }

    /// Extends this grant to the end of `longer`. The call has no effect if `longer` does not end later.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let mut grant = Grant::new(42, 1_730_000_000, 1_730_003_600)?;
    /// grant.extend(Grant::new(42, 1_730_000_000, 1_730_007_200)?)?;
    /// assert_eq!(grant.end(), 1_730_007_200);
    /// grant.extend(Grant::new(42, 1_730_000_000, 1_730_003_600)?)?;
    /// assert_eq!(grant.end(), 1_730_007_200);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `lease_mismatch` unless both grants have the same node IDs and the same start. After an error, this grant
    /// remains unchanged.
    pub fn extend(&mut self, longer: Self) -> Result<()> {
        self.terms = self.terms.with_later_end(longer.into_info())?;
        Ok(())
    }

    /// Consumes the grant and returns its terms for the generator.
    pub(super) fn into_info(self) -> GrantInfo {
        self.terms
    }
}

impl GrantInfo {
    /// Returns the range of node IDs.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let terms = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824)?.info();
    /// assert_eq!(terms.nodes(), 40..=49);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn nodes(&self) -> RangeInclusive<u32> {
        self.first_node..=self.last_node
    }

    /// Returns the first second of the grant, as a Unix timestamp.
    ///
    /// ```
    /// use polyflake::randflake::{EPOCH, Grant};
    ///
    /// assert_eq!(Grant::new(42, EPOCH, 2_803_741_824)?.info().start(), 1_730_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn start(&self) -> i64 {
        self.start
    }

    /// Returns the first second after the grant, as a Unix timestamp.
    ///
    /// ```
    /// use polyflake::randflake::{Grant, LAST_SECOND};
    ///
    /// assert_eq!(Grant::new(42, 1_730_000_000, LAST_SECOND + 1)?.info().end(), 2_803_741_824);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn end(&self) -> i64 {
        self.end
    }

    /// Returns the seconds that the grant covers, counted from the format's epoch.
    pub(super) fn ticks(&self) -> Range<u64> {
        (self.start - EPOCH).cast_unsigned()..(self.end - EPOCH).cast_unsigned()
    }

    /// Returns this grant with a different end, which is given in seconds since the format's epoch.
    pub(super) fn with_end(self, end: u64) -> Self {
        Self { end: EPOCH + end.cast_signed(), ..self }
    }

    /// Returns this grant, extended to the end of `longer` if that end is later. The two grants must be identical in all
    /// other respects.
    pub(super) fn with_later_end(self, longer: Self) -> Result<Self> {
        if longer != (Self { end: longer.end, ..self }) {
            return Err(Error::new(ErrorKind::LeaseMismatch));
        }
        Ok(Self { end: self.end.max(longer.end), ..self })
    }
}
