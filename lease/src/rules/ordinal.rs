//! Ordinals that platforms give to the copies of a process, as numbers to prefer or to insist on.

use std::{env, ffi::OsString, string::String};

use alloc::format;

use crate::{Error, Result, rules::error::out_of_range, rules::json::MOST};

/// The ordinal of this process: which of a platform's copies it is, by an environment variable. The page on node numbers names the
/// variables of platforms.
///
/// A platform that runs two copies under one ordinal, if only for a moment, gives both the same one. So an ordinal only says which
/// number a lease asks for: [`Options::prefer_ordinal`](crate::Options::prefer_ordinal) takes another number where that one is held,
/// [`Options::insist_ordinal`](crate::Options::insist_ordinal) waits for it.
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
    /// An ordinal in an environment variable.
    pub fn variable(name: &str) -> Self {
        Self { variable: name.into() }
    }

    /// Reads the ordinal.
    ///
    /// # Errors
    /// `out_of_range` if the variable is not set or holds no ordinal. The error names the variable, and does not show what it holds.
    pub fn read(&self) -> Result<u64> {
        self.read_in(|name| env::var_os(name))
    }

    /// As [`Ordinal::read`], from other environment variables than the process's.
    ///
    /// # Errors
    /// As [`Ordinal::read`].
    pub fn read_in(&self, variables: impl Fn(&str) -> Option<OsString>) -> Result<u64> {
        let text = variables(&self.variable).ok_or_else(|| self.refused("none"))?;
        let text = text.into_string().map_err(|_| self.refused("a text that is not UTF-8"))?;
        if text.is_empty() {
            return Err(self.refused("an empty text"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.refused("other characters than digits"));
        }
        let number = text.parse().ok().filter(|number| *number < MOST);
        number.ok_or_else(|| self.refused("a number of 2^53 or more"))
    }

    fn refused(&self, found: &str) -> Error {
        let name = &self.variable;
        let place = format!("the environment variable {name:.60}");
        out_of_range(format!("expected an ordinal in {place}, found {found}"))
    }
}
