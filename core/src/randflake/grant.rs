//! The grant: the nodes that a generator may use, and the time in which it may use them.

use core::ops::{Range, RangeInclusive};

use super::{EPOCH, LAST_NODE, LAST_SECOND};
use crate::{Error, ErrorKind, Result};

/// The right to use one node, or a range of nodes, from `start` until just before `end`, in Unix seconds.
///
/// The issuer of grants must make sure that no two share a node and a second. A grant serves one generator once.
///
/// ```
/// use polyflake::randflake::Grant;
///
/// let grant = Grant::new(42, 1_730_000_000, 1_730_003_600)?; // an hour, until just before the end
/// assert_eq!((grant.nodes(), grant.end() - grant.start()), (42..=42, 3600));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    first_node: u32,
    last_node: u32,
    start: i64,
    end: i64,
}

impl Grant {
    /// A grant of one node.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// assert!(Grant::new(131_071, 1_730_000_000, 2_803_741_824).is_ok()); // the last node, for all time
    /// let error = Grant::new(131_072, 1_730_000_000, 2_803_741_824).unwrap_err();
    /// assert_eq!(error.to_string(), "expected node from 0 to 131071, found 131072");
    /// ```
    ///
    /// # Errors
    /// `out_of_range` unless the node is in 0..=131071 and 1730000000 <= start < end <= 2803741824.
    pub fn new(node: u32, start: i64, end: i64) -> Result<Self> {
        check("node", node, 0, LAST_NODE)?;
        Self::with_nodes(node..=node, start, end)
    }

    /// A grant of a range of nodes. When a node's second is used up, the generator goes on with the next node.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let ten = Grant::with_nodes(40..=49, 1_730_000_000, 2_803_741_824)?; // 1,310,720 IDs a second
    /// assert_eq!(ten.nodes().count(), 10);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Grant::new`], and `out_of_range` for a range without nodes.
    pub fn with_nodes(nodes: RangeInclusive<u32>, start: i64, end: i64) -> Result<Self> {
        let (first_node, last_node) = nodes.into_inner();
        check("nodes", first_node, 0, LAST_NODE)?;
        check("nodes", last_node, first_node, LAST_NODE)?;
        check("start", start, EPOCH, LAST_SECOND)?;
        check("end", end, start + 1, LAST_SECOND + 1)?;
        Ok(Self { first_node, last_node, start, end })
    }

    /// The nodes.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// assert_eq!(Grant::new(42, 1_730_000_000, 2_803_741_824)?.nodes(), 42..=42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn nodes(&self) -> RangeInclusive<u32> {
        self.first_node..=self.last_node
    }

    pub(super) fn first_node(&self) -> u32 {
        self.first_node
    }

    /// The first second, in Unix seconds.
    ///
    /// ```
    /// use polyflake::randflake::{EPOCH, Grant};
    ///
    /// assert_eq!(Grant::new(42, EPOCH, 2_803_741_824)?.start(), 1_730_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn start(&self) -> i64 {
        self.start
    }

    /// One past the last second, in Unix seconds.
    ///
    /// ```
    /// use polyflake::randflake::{Grant, LAST_SECOND};
    ///
    /// assert_eq!(Grant::new(42, 1_730_000_000, LAST_SECOND + 1)?.end(), 2_803_741_824);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn end(&self) -> i64 {
        self.end
    }

    /// The seconds, counted from the format's epoch.
    pub(super) fn ticks(&self) -> Range<u64> {
        (self.start - EPOCH).cast_unsigned()..(self.end - EPOCH).cast_unsigned()
    }

    /// This grant with another end, counted from the format's epoch.
    pub(super) fn until(self, end: u64) -> Self {
        Self { end: EPOCH + end.cast_signed(), ..self }
    }

    /// This grant with the end of `longer`, or unchanged if that is no later.
    ///
    /// ```
    /// use polyflake::randflake::Grant;
    ///
    /// let hour = Grant::new(42, 1_730_000_000, 1_730_003_600)?;
    /// let two = Grant::new(42, 1_730_000_000, 1_730_007_200)?;
    /// assert_eq!(hour.extend(two)?, two);
    /// assert_eq!(two.extend(hour)?, two);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `lease_mismatch` unless both have the same nodes and start.
    pub fn extend(&self, longer: Self) -> Result<Self> {
        let end = self.end.max(longer.end);
        if longer != (Self { end: longer.end, ..*self }) {
            return Err(Error::new(ErrorKind::LeaseMismatch));
        }
        Ok(Self { end, ..*self })
    }
}

fn check<T: Into<i128> + PartialOrd>(
    field: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<()> {
    if value < least || value > most {
        return Err(Error::out_of_range(field, value.into(), least.into(), most.into()));
    }
    Ok(())
}
