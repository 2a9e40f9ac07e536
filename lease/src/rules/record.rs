//! The records of a store: one for each block of worker IDs, and one for each namespace.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use serde_json::{Value, json};

use crate::{
    Error, Result,
    rules::error::{damaged_record, out_of_range},
    rules::json::{Fields, MAX_SAFE_INTEGER, check_canonical},
    rules::shape::digest,
};

/// 128 random bits from the operating system, which serve as a token or an incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Random(pub u128);

impl Random {
    /// Parses 32 lowercase hexadecimal digits.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string.
    pub fn parse(text: &str) -> Result<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let value = u128::from_str_radix(text, 16).ok();
        value
            .filter(|_| text.len() == 32 && text.bytes().all(is_hex))
            .map(Self)
            .ok_or_else(|| damaged_record("expected 32 lower-case hexadecimal digits"))
    }
}

impl fmt::Display for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The record of a block of worker IDs. All times are in Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the fields of format 1")]
pub struct Record {
    /// The first worker ID of the block.
    pub first: u64,
    /// The number of worker IDs in the block.
    pub count: u64,
    /// The start of the latest grant.
    pub start: u64,
    /// The end of the latest grant.
    pub granted_until: u64,
    /// The token of the claim, or 0 if the block has never been granted.
    pub token: Random,
    /// The version number, which increases with each change.
    pub version: u64,
    /// The namespace's incarnation at the time of the grant.
    pub incarnation: Random,
    /// A human-readable name for the holder.
    pub holder: String,
}

impl Record {
    /// The `granted_until` value of a reserved worker ID. It is the maximum time, so the worker ID is never granted.
    pub const RESERVED: u64 = MAX_SAFE_INTEGER;

    /// Creates the record for a block that has never been granted.
    pub fn fresh(first: u64, count: u64, incarnation: Random) -> Self {
        let (token, holder) = (Random::default(), String::new());
        Self { first, count, start: 0, granted_until: 0, token, version: 1, incarnation, holder }
    }

    /// Returns `true` if both records describe the same grant, that is, if their incarnation, worker ID, token and start
    /// are equal.
    pub fn is_grant(&self, other: &Self) -> bool {
        // All records that were never granted have token 0, so two records with token 0 do not necessarily describe the
        // same grant.
        self.token != Random::default()
            && (self.incarnation, self.first, self.token, self.start)
                == (other.incarnation, other.first, other.token, other.start)
    }

    /// Returns whether both records belong to the same claim, regardless of the store's incarnation.
    pub(crate) fn is_claim(&self, other: &Self) -> bool {
        self.token != Random::default()
            && (self.first, self.token, self.start) == (other.first, other.token, other.start)
    }

    /// Returns `true` if this record has the same first worker ID, version, token and incarnation as `other`. In that case,
    /// a write based on `other` may replace this record.
    pub fn is_as_read(&self, other: &Self) -> bool {
        (self.first, self.version, self.token, self.incarnation)
            == (other.first, other.version, other.token, other.incarnation)
    }

    /// Returns the record as canonical JSON.
    ///
    /// ```
    /// use polyflake_lease::protocol::{Random, Record};
    ///
    /// let record = Record::fresh(42, 1, Random(7));
    /// assert_eq!(Record::from_json(&record.to_json())?, record);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "count": self.count,
            "first": self.first,
            "format": 1,
            "granted_until": self.granted_until,
            "holder": self.holder,
            "incarnation": format!("{}", self.incarnation),
            "start": self.start,
            "token": format!("{}", self.token),
            "version": self.version,
        })
    }

    /// Parses a record from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for a record in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let record = Self::from_fields(&Fields::parse(text)?)?;
        check_canonical(text, &record.to_json())?;
        Ok(record)
    }

    /// Reads a record in format 1.
    pub(crate) fn from_fields(fields: &Fields) -> Result<Self> {
        let first = fields.integer("first")?;
        let read = || {
            fields.check_format()?;
            Ok(Self {
                first,
                count: fields.integer("count")?,
                start: fields.integer("start")?,
                granted_until: fields.integer("granted_until")?,
                token: fields.random("token")?,
                version: fields.integer("version")?,
                incarnation: fields.random("incarnation")?,
                holder: fields.string("holder")?,
            })
        };
        let record = read().map_err(|error: Error| error.with_record_context(first))?;
        record.check()?;
        Ok(record)
    }

    /// Rejects a record that is not valid in format 1. Drivers call this method after each read.
    ///
    /// # Errors
    /// Returns `store_damaged` for an invalid record.
    pub fn check(&self) -> Result<()> {
        let numbers = [self.first, self.start, self.granted_until, self.version];
        let fault = if numbers.iter().any(|value| *value > MAX_SAFE_INTEGER) {
            "expected integers below 2^53"
        } else if !self.count.is_power_of_two() || self.count > MAX_SAFE_INTEGER - self.first {
            "expected a power of two of worker IDs"
        } else if self.granted_until < self.start {
            "expected an end that is not before the start"
        } else if self.version == 0 {
            "expected a version from 1 on"
        } else if check_text(&self.holder, 200).is_err() {
            "expected a holder name of at most 200 bytes"
        } else {
            return Ok(());
        };
        Err(damaged_record(format!("{fault} in the record of worker ID {}", self.first)))
    }
}

/// A namespace's record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the fields of format 1")]
pub struct Namespace {
    /// The namespace's name.
    pub name: String,
    /// The shape in canonical JSON. The shape determines which IDs are generated. The store saves a digest of the shape
    /// with the record.
    pub shape: String,
    /// The store's incarnation. Grants from any other incarnation are not renewed.
    pub incarnation: Random,
    /// The store's name, as determined by the driver.
    pub store: String,
    /// The store's name before it last changed. It is empty if the name never changed, or if an operator has reported a
    /// restored backup since then. It is this store's own name if a holder proved that the store lacks grants.
    pub previous_store: String,
    /// The value of `quiet_until` before the incarnation last changed.
    pub previous_quiet_until: u64,
    /// The number of records.
    pub records: u64,
    /// The longest lease so far, in milliseconds.
    pub longest_ms: u64,
    /// The time before which no grant starts, in Unix milliseconds.
    pub quiet_until: u64,
    /// The version number, which increases with each change.
    pub version: u64,
}

impl Namespace {
    /// Returns the shape's SHA-256 digest in hexadecimal.
    pub fn digest(&self) -> String {
        digest(&self.shape)
    }

    /// Returns the clock error that the namespace tolerates, in milliseconds. This is a third of the longest lease, but at
    /// least 5 and at most 60 seconds. Quiet times are extended by this amount. After a restore, a holder that is still
    /// running renews its grant at least this long before the end recorded in the restored store.
    pub fn clock_error_ms(&self) -> u64 {
        clock_error_ms(self.longest_ms)
    }

    /// Returns the record for a new incarnation of the store, in which no grant starts before `quiet_until`.
    pub(crate) fn with_incarnation(
        &self,
        store: &str,
        incarnation: Random,
        quiet_until: u64,
    ) -> Self {
        Self {
            incarnation,
            store: store.into(),
            quiet_until,
            previous_store: self.store.clone(),
            previous_quiet_until: self.quiet_until,
            ..self.clone()
        }
    }

    /// Returns the record as canonical JSON.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "digest": self.digest(),
            "format": 1,
            "incarnation": format!("{}", self.incarnation),
            "longest_ms": self.longest_ms,
            "namespace": self.name,
            "previous_quiet_until": self.previous_quiet_until,
            "previous_store": self.previous_store,
            "quiet_until": self.quiet_until,
            "records": self.records,
            "shape": self.shape,
            "store": self.store,
            "version": self.version,
        })
    }

    /// Parses a record from canonical JSON.
    ///
    /// # Errors
    /// Returns `store_damaged` for any other string, or `schema_too_new` for a record in a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let namespace = Self::from_fields(&Fields::parse(text)?)?;
        check_canonical(text, &namespace.to_json())?;
        Ok(namespace)
    }

    /// Reads a record in format 1.
    pub(crate) fn from_fields(fields: &Fields) -> Result<Self> {
        fields.check_format()?;
        let digest = fields.string("digest")?;
        let namespace = Self {
            name: fields.string("namespace")?,
            shape: fields.string("shape")?,
            incarnation: fields.random("incarnation")?,
            store: fields.string("store")?,
            records: fields.integer("records")?,
            longest_ms: fields.integer("longest_ms")?,
            previous_quiet_until: fields.integer("previous_quiet_until")?,
            previous_store: fields.string("previous_store")?,
            quiet_until: fields.integer("quiet_until")?,
            version: fields.integer("version")?,
        };
        namespace.check(&digest)?;
        Ok(namespace)
    }

    /// Rejects a record that is not valid in format 1. Drivers call this method after each read, and pass the stored
    /// digest.
    ///
    /// # Errors
    /// Returns `store_damaged` for an invalid record.
    pub fn check(&self, digest: &str) -> Result<()> {
        let times = [self.longest_ms, self.quiet_until, self.previous_quiet_until];
        let numbers = times.into_iter().chain([self.records, self.version]);
        let is_text = |text: &str| check_text(text, 200).is_ok();
        let fault = if digest != self.digest() {
            "expected a shape with its digest"
        } else if numbers.max() > Some(MAX_SAFE_INTEGER) || self.version == 0 {
            "expected integers below 2^53"
        } else if check_name(&self.name).is_err()
            || !is_text(&self.store)
            || !is_text(&self.previous_store)
        {
            "expected a name"
        } else {
            return Ok(());
        };
        Err(damaged_record(format!("{fault} in the namespace's record")))
    }
}

/// Returns the clock error that belongs to a longest lease, both in milliseconds.
pub(crate) fn clock_error_ms(longest_ms: u64) -> u64 {
    // A fixed minute would be too long for short leases: with 40-second leases, a failover left the namespace without IDs
    // for 92 to 94 seconds.
    (longest_ms / 3).clamp(5_000, 60_000)
}

/// Rejects an invalid namespace name.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins && name.len() <= 64 && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(out_of_range("expected a namespace of 1 to 64 letters, digits, '-', '_', '.' and '/'"))
}

pub(crate) fn check_text(text: &str, most: usize) -> Result<()> {
    if text.len() <= most && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(out_of_range(format!(
        "expected a string of at most {most} bytes without control characters"
    )))
}
