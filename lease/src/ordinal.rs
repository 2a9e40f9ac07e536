//! Ordinals that platforms give to the copies of a process, as numbers to prefer or to insist on.

use std::{borrow::Cow, env, ffi::OsString, fs, path::PathBuf};

use alloc::format;

use crate::{Error, Result, error::out_of_range, json::MOST};

/// The ordinal of this process: which of a platform's copies it is, read from an environment variable or a file of labels.
///
/// A platform that runs two copies under one ordinal, if only for a moment, gives both the same one. So an ordinal only says which
/// number a lease asks for: [`Options::prefer_ordinal`](crate::Options::prefer_ordinal) takes another number where that one is held,
/// [`Options::insist_ordinal`](crate::Options::insist_ordinal) waits for it.
///
/// ```
/// use polyflake_lease::Ordinal;
///
/// let variables = |name: &str| (name == "JOB_COMPLETION_INDEX").then(|| "3".into());
/// assert_eq!(Ordinal::KUBERNETES_JOB.read_in(variables)?, 3);
/// let error = Ordinal::SLURM_TASK.read_in(variables).unwrap_err();
/// assert_eq!(error.to_string(), "expected an ordinal in the environment variable SLURM_PROCID, found none");
/// # Ok::<(), polyflake_lease::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordinal {
    place: Place,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Variable(Cow<'static, str>),
    File(PathBuf),
}

/// The form of the text in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The ordinal.
    Number,
    /// The ordinal, counted from 1.
    Slot,
    /// A name, a hyphen and the ordinal.
    Name,
    /// A line for each label of a pod: its key, `=`, and its value in quotation marks.
    Labels,
}

/// The label of a pod's index.
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

impl Ordinal {
    /// The name of a pod in a stateful set of Kubernetes, for example `orders-3`, which is the host's name (`HOSTNAME`).
    pub const KUBERNETES_POD: Self = Self::in_variable("HOSTNAME", Form::Name);
    /// The index of a pod in an indexed Job of Kubernetes (`JOB_COMPLETION_INDEX`).
    pub const KUBERNETES_JOB: Self = Self::in_variable("JOB_COMPLETION_INDEX", Form::Number);
    /// The index of a child in an array job of AWS Batch (`AWS_BATCH_JOB_ARRAY_INDEX`).
    pub const AWS_BATCH: Self = Self::in_variable("AWS_BATCH_JOB_ARRAY_INDEX", Form::Number);
    /// The index of a task of Google's Batch (`BATCH_TASK_INDEX`).
    pub const GOOGLE_BATCH: Self = Self::in_variable("BATCH_TASK_INDEX", Form::Number);
    /// The index of a task of a Cloud Run job (`CLOUD_RUN_TASK_INDEX`). Cloud Run services have none.
    pub const CLOUD_RUN: Self = Self::in_variable("CLOUD_RUN_TASK_INDEX", Form::Number);
    /// The rank of a task in a job of Slurm (`SLURM_PROCID`).
    pub const SLURM_TASK: Self = Self::in_variable("SLURM_PROCID", Form::Number);
    /// The index of a job in an array of Slurm (`SLURM_ARRAY_TASK_ID`).
    pub const SLURM_ARRAY: Self = Self::in_variable("SLURM_ARRAY_TASK_ID", Form::Number);
    /// The instance of a process under PM2 (`NODE_APP_INSTANCE`), unless its `instance_var` names another variable.
    pub const PM2: Self = Self::in_variable("NODE_APP_INSTANCE", Form::Number);

    const fn in_variable(name: &'static str, form: Form) -> Self {
        Self { place: Place::Variable(Cow::Borrowed(name)), form }
    }

    fn in_this_variable(name: &str, form: Form) -> Self {
        Self { place: Place::Variable(Cow::Owned(name.into())), form }
    }

    /// An ordinal in an environment variable, counted from 0: for a pod's index that the manifest puts there
    /// (`metadata.labels['apps.kubernetes.io/pod-index']`), and for all other platforms.
    ///
    /// ```
    /// use polyflake_lease::Ordinal;
    ///
    /// assert_eq!(Ordinal::variable("POD_INDEX").read_in(|_| Some("12".into()))?, 12);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn variable(name: &str) -> Self {
        Self::in_this_variable(name, Form::Number)
    }

    /// The slot of a task of a Docker service, counted from 1, in an environment variable that the service's definition fills
    /// (`--env SLOT={{.Task.Slot}}`). The first slot is ordinal 0.
    ///
    /// ```
    /// use polyflake_lease::Ordinal;
    ///
    /// assert_eq!(Ordinal::swarm_slot("SLOT").read_in(|_| Some("1".into()))?, 0);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn swarm_slot(variable: &str) -> Self {
        Self::in_this_variable(variable, Form::Slot)
    }

    /// The ordinal at the end of a name, after a hyphen, in an environment variable.
    ///
    /// ```
    /// use polyflake_lease::Ordinal;
    ///
    /// assert_eq!(Ordinal::name_in("POD_NAME").read_in(|_| Some("orders-7".into()))?, 7);
    /// # Ok::<(), polyflake_lease::Error>(())
    /// ```
    pub fn name_in(variable: &str) -> Self {
        Self::in_this_variable(variable, Form::Name)
    }

    /// The pod's index among the labels in a file, which a volume of Kubernetes' downward API fills (`metadata.labels`).
    ///
    /// ```
    /// use polyflake_lease::Ordinal;
    ///
    /// assert!(Ordinal::pod_labels("/etc/podinfo/no such file").read().is_err());
    /// ```
    pub fn pod_labels(file: impl Into<PathBuf>) -> Self {
        Self { place: Place::File(file.into()), form: Form::Labels }
    }

    /// Reads the ordinal, counted from 0.
    ///
    /// # Errors
    /// `out_of_range` if the variable, the file or the label is missing, or holds no ordinal. The error names the place, and does not
    /// show what was found there.
    pub fn read(&self) -> Result<u64> {
        self.read_in(|name| env::var_os(name))
    }

    /// As [`Ordinal::read`], from other environment variables than the process's.
    ///
    /// # Errors
    /// As [`Ordinal::read`].
    pub fn read_in(&self, variables: impl Fn(&str) -> Option<OsString>) -> Result<u64> {
        let text = match &self.place {
            Place::Variable(name) => variables(name).ok_or_else(|| self.refused("none"))?,
            Place::File(path) => match fs::read_to_string(path) {
                Ok(text) => text.into(),
                Err(error) => return Err(self.refused(&format!("{error}"))),
            },
        };
        let text = text.into_string().map_err(|_| self.refused("a text that is not UTF-8"))?;
        self.form.ordinal(&text).map_err(|found| self.refused(found))
    }

    fn refused(&self, found: &str) -> Error {
        let place = match &self.place {
            Place::Variable(name) => format!("the environment variable {name:.60}"),
            Place::File(path) => format!("the labels in {}", path.display()),
        };
        out_of_range(format!("expected {} in {place}, found {found}", self.form.expected()))
    }
}

impl Form {
    fn expected(self) -> &'static str {
        match self {
            Self::Number => "an ordinal",
            Self::Slot => "a slot",
            Self::Name => "a name that ends in a hyphen and an ordinal",
            Self::Labels => POD_INDEX,
        }
    }

    /// The ordinal in a text, or a description of the text.
    fn ordinal(self, text: &str) -> Result<u64, &'static str> {
        match self {
            Self::Number => number(text),
            Self::Slot => number(text)?.checked_sub(1).ok_or("0, though slots begin with 1"),
            Self::Name => match text.rsplit_once('-') {
                Some((name, ordinal)) if !name.is_empty() => number(ordinal),
                _ => Err("a name without a hyphen"),
            },
            Self::Labels => {
                let values = text.lines().filter_map(|line| line.split_once('='));
                let mut values = values.filter(|(key, _)| *key == POD_INDEX);
                let (_, value) = values.next().ok_or("no such label")?;
                let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                number(inner.ok_or("a value without quotation marks")?)
            }
        }
    }
}

/// A decimal number that a record can hold, or a description of the text.
fn number(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() {
        return Err("an empty text");
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("other characters than digits");
    }
    let number = text.parse().ok().filter(|number| *number < MOST);
    number.ok_or("a number of 2^53 or more")
}
