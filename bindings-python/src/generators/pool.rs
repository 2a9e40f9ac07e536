//! Pools: a file for each family, and the members of pools, which are Python objects.

use std::ops::Deref;

use pyo3::{
    PyClass, PyTraverseError, PyVisit, prelude::*, pyclass::boolean_struct::True, types::PyTuple,
};

use crate::{
    errors::no_copy,
    ids::convert::{class_name, iterator, mistyped, raise_named, type_name},
};

const NAME: &str = "members";

const MEMBERS: &str = "an iterable of generators";

/// One more than a pool may have: an endless iterator is read up to this many members.
const TOO_MANY: usize = 65_537;

/// A class of generators.
pub(crate) trait Generates: PyClass<Frozen = True> + Sync {
    type Inner;

    fn inner(&self) -> &Self::Inner;
}

/// A Python generator, to which the core's pools point.
pub(crate) struct Member<G>(pub(crate) Py<G>);

impl<G: Generates> Deref for Member<G> {
    type Target = G::Inner;

    #[inline]
    fn deref(&self) -> &G::Inner {
        self.0.get().inner()
    }
}

/// The members of a pool, as an argument.
pub(crate) struct Members<G>(pub(crate) Vec<Member<G>>);

impl<G: Generates> FromPyObject<'_, '_> for Members<G> {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let mut members = vec![];
        for item in iterator(&value, MEMBERS, NAME)?.take(TOO_MANY) {
            let item = item?;
            let Ok(generator) = item.cast::<G>() else {
                let expected = class_name(&item.py().get_type::<G>());
                let error = mistyped(NAME, &expected, &type_name(&item));
                return Err(raise_named(error.in_item(members.len()), NAME));
            };
            members.push(Member(generator.clone().unbind()));
        }
        Ok(Self(members))
    }
}

/// The members of a pool, for Python.
pub(crate) fn tuple<'py, G: PyClass>(
    py: Python<'py>,
    members: &[Member<G>],
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, members.iter().map(|member| &member.0))
}

pub(crate) fn traverse<G>(
    members: &[Member<G>],
    visit: &PyVisit<'_>,
) -> Result<(), PyTraverseError> {
    members.iter().try_for_each(|member| visit.call(&member.0))
}

/// Called by copying and pickling, which it refuses.
pub(crate) fn reduce() -> PyResult<()> {
    no_copy("expected one pool, found a copy: make another one from the generators")
}
