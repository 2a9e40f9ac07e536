//! Ordinals that platforms assign to the replicas of a process. They can serve as preferred or required worker IDs.

use std::{env, ffi::OsString, string::String};

use alloc::format;

use crate::{Error, Result, rules::error::out_of_range, rules::json::MAX_SAFE_INTEGER};

/// The ordinal of this process among the replicas that a platform runs, read from an environment variable. The page on
/// worker IDs lists each platform's variable.
///
/// A platform may assign the same ordinal to two replicas, even if only for a moment. Therefore an ordinal only determines
/// which worker ID a lease requests. If that worker ID is already held, a lease with
/// [`Options::preferred_ordinal`](crate::Options::preferred_ordinal) uses a different worker ID, and a lease with
/// [`Options::required_ordinal`](crate::Options::required_ordinal) waits until the worker ID is free.
///
/// ```
/// use polyflake_lease::Ordinal;
///
/// let variables = |name: &str| (name == "JOB_COMPLETION_INDEX").then(|| "3".into());
/// assert_eq!(Ordinal::variable("JOB_COMPLETION_INDEX").read_in(variables)?, 3);
/// let error = Ordinal::variable("POD_INDEX").read_in(variables).unwrap_err();
/// assert_eq!(error.to_string(), "expected an ordinal in the environment variable POD_INDEX, found none");
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordinal {
    variable: String,
}

impl Ordinal {
    /// Creates an ordinal that will be read from an environment variable.
    pub fn variable(name: &str) -> Self {
        Self { variable: name.into() }
    }

    /// Reads the ordinal from the environment variable.
    ///
    /// # Errors
    /// Returns `out_of_range` if the variable is not set or does not contain an ordinal. The error contains the name of the
    /// variable, but not its value.
    pub fn read(&self) -> Result<u64> {
        self.read_in(|name| env::var_os(name))
    }

    /// Works like [`Ordinal::read`], but looks up environment variables with the given function.
    ///
    /// # Errors
    /// Returns the same errors as [`Ordinal::read`].
    pub fn read_in(&self, variables: impl Fn(&str) -> Option<OsString>) -> Result<u64> {
        let text = variables(&self.variable).ok_or_else(|| self.invalid_ordinal_error("none"))?;
        let text = text
            .into_string()
            .map_err(|_| self.invalid_ordinal_error("a text that is not UTF-8"))?;
        if text.is_empty() {
            return Err(self.invalid_ordinal_error("an empty text"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.invalid_ordinal_error("other characters than digits"));
        }
        let number = text.parse().ok().filter(|number| *number < MAX_SAFE_INTEGER);
        number.ok_or_else(|| self.invalid_ordinal_error("a number of 2^53 or more"))
    }

    fn invalid_ordinal_error(&self, found: &str) -> Error {
        let name = &self.variable;
        let place = format!("the environment variable {name:.60}");
        out_of_range(format!("expected an ordinal in {place}, found {found}"))
    }
}
