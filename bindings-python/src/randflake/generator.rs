//! Randflake generators.

use polyflake::{
    Error, ErrorKind, SharedGenerators,
    randflake::{self, Builder, Codec, Randflake},
};
use pyo3::{PyTraverseError, PyVisit, prelude::*, types::PyDict};

use super::ids::{Grant, Id, Parts, RandflakeArray, ResumeAfter};
use crate::generators::{
    clock::PythonClock,
    leased::{LeaseArgument, LeaseOption, Source, mismatch},
    making::{self, CallResult, Mode, id_methods, impl_id_maker, text_methods},
    options::{FunctionKeywords, Keywords, Options},
};
use crate::{
    errors::{raise, reject_copy},
    ids::{
        convert::{Argument, Count, FromArgument, name, wrong_type_exception},
        record::reduce_by_attributes,
        secret::Secret,
        target::Item,
    },
};

const CONSTRUCTOR_KEYWORDS: FunctionKeywords =
    ("Generator", &["grant", "secret", "resume_after", "lease"]);

type CoreGenerator = randflake::Generator<PythonClock>;

#[doc = doc!("randflake.Generator")]
#[pyclass(frozen, module = "polyflake.randflake")]
pub(crate) struct Generator {
    pub(super) inner: Source<randflake::Leased<PythonClock>>,
    codec: Codec,
}

/// The generators that were created with an explicit grant.
static GENERATORS: SharedGenerators<CoreGenerator> =
    SharedGenerators::new(CoreGenerator::is_usable);

/// Creates the source for a generator with a lease. The source builds a new generator for each grant.
fn leased_source(
    lease: LeaseArgument,
    secret: Secret,
    codec: Codec,
    options: Options,
) -> PyResult<Source<randflake::Leased<PythonClock>>> {
    let secret = format!("{:032x}", u128::from_be_bytes(*secret.0));
    let set = |settings: &Bound<'_, PyDict>| settings.set_item("secret", secret);
    let options = options.for_grants()?;
    Source::with_lease(lease, "randflake", set, move |number, window| {
        let node = number.try_into().map_err(|_| Error::new(ErrorKind::OutOfRange))?;
        let grant = randflake::Grant::new(node, window.start / 1000, window.end / 1000)?;
        let with_clock = |clock| Builder::with_clock(grant, codec.clone(), clock);
        options().builder_without_window(with_clock).build()
    })
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (
            grant, secret, *, resume_after = None, lease = None, **options
        ),
        text_signature = "(grant, secret, *, clock=None, test_clock=None, on_exhausted='wait', max_wait=None, resume_after=None, \
                          lease=None, on_stall=None)"
    )]
    fn new(
        grant: Argument<GrantArgument, name::grant>,
        secret: Argument<Secret, name::secret>,
        resume_after: Option<ResumeAfter>,
        lease: LeaseOption,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let options = Options::from_keywords_without_window(CONSTRUCTOR_KEYWORDS, options)?;
        let codec = Codec::new(*secret.0.0);
        let grant = match (grant.0.0, lease) {
            (None, Some(lease)) if resume_after.is_none() => {
                let inner = leased_source(lease.0, secret.0, codec.clone(), options)?;
                return Ok(Self { inner, codec });
            }
            (Some(grant), None) => grant,
            (None, None) => {
                let reason = "expected a grant, or None beside a lease, found no lease";
                return Err(raise(
                    Error::with_reason(ErrorKind::InvalidType, reason).with_field("grant"),
                ));
            }
            _ => {
                return Err(mismatch(
                    "expected no grant and no `resume_after` beside a lease, found one",
                ));
            }
        };
        // Decrypting a fixed ID yields a value that identifies the secret without revealing it.
        let of_secret = codec.inspect(Randflake::default());
        let resumed = resume_after.as_ref().map(|second| second.0);
        let info = grant.info();
        let key = options.sharing_key(
            &(info.nodes(), of_secret),
            &[("grant", &(info.start(), info.end())), ("resume_after", &resumed)],
        );
        let with_clock = |clock| Builder::with_clock(grant, codec.clone(), clock);
        let mut builder = options.builder_without_window(with_clock);
        if let Some(second) = resume_after {
            builder = builder.resume_after(second.0);
        }
        let inner = GENERATORS.get_or_build(key, || builder.build()).map_err(raise)?;
        Ok(Self { inner: Source::Own(inner), codec })
    }

    #[doc = doc!("randflake.Generator.inspect")]
    #[pyo3(signature = (id, /))]
    fn inspect(&self, id: Id) -> Parts {
        self.codec.inspect(id.into()).into()
    }

    #[doc = doc!("randflake.Generator.grant")]
    #[getter]
    fn grant(&self) -> PyResult<Grant> {
        Ok(Grant(self.inner.own_generator()?.grant()))
    }

    #[doc = doc!("randflake.Generator.extend_grant")]
    #[pyo3(signature = (grant, /))]
    fn extend_grant(&self, grant: Argument<GrantExtension, name::grant>) -> PyResult<()> {
        self.inner.own_generator()?.extend_grant(grant.0.0).map_err(raise)
    }

    #[doc = doc!("randflake.Generator.stats")]
    fn stats(&self) -> PyResult<Stats> {
        Ok(self.inner.own_generator()?.stats().into())
    }

    #[doc = doc!("randflake.Generator.close")]
    fn close(&self) -> PyResult<Option<i64>> {
        self.inner.own_generator()?.close().map_err(raise)
    }

    fn __repr__(&self) -> PyResult<String> {
        let generator = match &self.inner {
            Source::Own(generator) => generator,
            Source::Leased(leased) => {
                return Ok(match leased.worker_id()? {
                    Some(node) => format!("<randflake.Generator of the leased node {node}>"),
                    None => "<randflake.Generator without a node yet>".to_owned(),
                });
            }
        };
        let grant = generator.grant();
        let (first, last) = grant.nodes().into_inner();
        Ok(format!("<randflake.Generator of nodes {first} to {last} until {}>", grant.end()))
    }

    /// Rejects copying and pickling, because two generators with the same grant would generate the same IDs.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one generator for a grant, found a copy")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.traverse(&visit, |own| own.clock().traverse(&visit))
    }
}

impl_id_maker! {
    randflake Generator Randflake RandflakeArray Item::Integer, |py, id| Ok(id.to_i64().into_pyobject(py)?.into_any()),
    () => (), |_, ()| ()
}
id_methods! { randflake Generator () "($self)" "($self, n, /)" "($self, buffer, /)" }
text_methods! { randflake Generator () "($self)" }

#[doc = doc!("randflake.Stats")]
#[pyclass(frozen, eq, hash, get_all, module = "polyflake.randflake")]
#[derive(PartialEq, Eq, Hash, FromPyObject)]
pub(crate) struct Stats {
    #[doc = doc!("randflake.Stats.last_second")]
    last_second: Option<i64>,
    #[doc = doc!("randflake.Stats.len")]
    len: u64,
    #[doc = doc!("randflake.Stats.closed")]
    closed: bool,
}

impl From<randflake::Stats> for Stats {
    fn from(randflake::Stats { last_second, len, closed, .. }: randflake::Stats) -> Self {
        Self { last_second, len, closed }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self) -> String {
        let Self { last_second, len, closed } = self;
        let open = if *closed { "closed" } else { "open" };
        match last_second {
            Some(second) => format!("<Stats: {open}, {len} IDs in second {second}>"),
            None => format!("<Stats: {open}, no IDs>"),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        reduce_by_attributes(slf)
    }

    #[staticmethod]
    fn _restore(attributes: Self) -> Self {
        attributes
    }
}

/// A grant passed as an argument, or `None` if the generator uses a lease.
struct GrantArgument(Option<randflake::Grant>);

impl<'a, 'py> FromArgument<'a, 'py> for GrantArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self(None));
        }
        GrantExtension::from_argument(value, name).map(|grant| Self(Some(grant.0)))
    }
}

/// A grant that extends an earlier one.
struct GrantExtension(randflake::Grant);

impl<'a, 'py> FromArgument<'a, 'py> for GrantExtension {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        match value.cast::<Grant>() {
            Ok(grant) => Ok(Self(grant.get().to_single_node()?)),
            Err(_) => Err(wrong_type_exception(name, "Grant", &value)),
        }
    }
}
