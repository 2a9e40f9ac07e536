//! Public IDs: the strings that represent numbers.

use polyflake::public::{self, BITS, SECRET_BYTES};
use pyo3::{
    buffer::PyBuffer,
    prelude::*,
    types::{PyBool, PyList, PyMapping, PyString},
};

use super::{
    column::parse_items,
    convert::{
        self, AnyInteger, Argument, FromArgument, Text, has_buffer, has_index, items, name,
        numbers, raise_named, type_name, wrong_type_error,
    },
    integers::Integers,
    memory::try_with_capacity,
    object::ascii,
    secret::Secret,
};
use crate::errors::{raise, reject_copy};

numbers! {
    Version(u8) "version" 0..=31;
    Written(u8) "write" 0..=31;
    Bits(u32) "bits" 1..=64;
}

/// The name of a parameter in error messages. The next two constants are also names of parameters.
const NUMBER: &str = "number";
const NUMBERS: &str = "numbers";
const TEXTS: &str = "texts";

#[doc = doc!("public.Keyring")]
#[pyclass(frozen, module = "polyflake.public")]
pub(crate) struct Keyring(public::Keyring);

/// Secrets and their versions.
struct Secrets(Vec<(u8, Secret<SECRET_BYTES>)>);

impl<'a, 'py> FromArgument<'a, 'py> for Secrets {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(mapping) = value.cast::<PyMapping>() else {
            return Ok(Self(vec![(1, Secret::from_argument(value, name)?)]));
        };
        let pairs = mapping.items()?;
        // The vector must never reallocate, because that would leave copies of the secrets in memory that are never erased.
        let mut secrets = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let [version, secret] = items(&pair, "pairs of a version and a secret", name)?;
            secrets.push((
                version.extract::<Version>()?.0,
                Secret::from_argument(secret.as_borrowed(), name)?,
            ));
        }
        Ok(Self(secrets))
    }
}

#[pymethods]
impl Keyring {
    #[new]
    #[pyo3(signature = (secret, /, *, write = None), text_signature = "(secret, /, *, write=None)")]
    fn new(secret: Argument<Secrets, name::secret>, write: Option<Written>) -> PyResult<Self> {
        let secrets = secret.0.0.iter().map(|(version, secret)| (*version, &*secret.0));
        let ids = public::Keyring::with_versions(secrets);
        let ids = ids.and_then(|ids| match write {
            Some(version) => ids.write(version.0),
            None => Ok(ids),
        });
        ids.map(Self).map_err(raise)
    }

    #[doc = doc!("public.Keyring.of")]
    #[pyo3(signature = (name, bits = Bits(BITS)), text_signature = "($self, name, bits=48)")]
    fn of(&self, name: Argument<Text<'_>, name::name>, bits: Bits) -> PyResult<IdType> {
        let of = self.0.of_bits(&name.0, bits.0).map_err(|error| raise_named(error, "name"))?;
        Ok(IdType { of, most: u64::MAX >> (64 - bits.0) })
    }

    /// Rejects copying, so that no copy contains the secret.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one set of secrets, found a copy: make another one from them")
    }
}

#[doc = doc!("public.IdType")]
#[pyclass(frozen, module = "polyflake.public")]
pub(crate) struct IdType {
    of: public::IdType,
    /// The largest number that the type accepts.
    most: u64,
}

impl IdType {
    /// Reads the numbers in a buffer, a column or any iterable.
    fn numbers(&self, values: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        if has_buffer(values)
            && let Ok(unsigned) = PyBuffer::<u64>::get(values)
            && unsigned.dimensions() > 0
        {
            return unsigned.to_vec(values.py());
        }
        let limits = 0..=self.most;
        let Some(signed) = Integers::try_from_value(values, NUMBERS, None)? else {
            return parse_items(values, NUMBERS, "a column of 64-bit integers", |item| {
                if item.is_instance_of::<PyBool>() || !has_index(item) {
                    return Ok(Err(wrong_type_error(NUMBERS, "int", &type_name(item))));
                }
                Ok(AnyInteger::from_value(item, NUMBERS)?.check_limits(NUMBER, &limits))
            });
        };
        let number = |(at, integer): (usize, &i64)| {
            let number = AnyInteger::Fits((*integer).into()).check_limits(NUMBER, &limits);
            number.map_err(|error| raise_named(error.in_item(at), NUMBERS))
        };
        signed.as_slice().iter().enumerate().map(number).collect()
    }
}

#[pymethods]
impl IdType {
    #[doc = doc!("public.IdType.name")]
    #[getter]
    fn name(&self) -> &str {
        self.of.name()
    }

    #[doc = doc!("public.IdType.bits")]
    #[getter]
    fn bits(&self) -> u32 {
        self.of.bits()
    }

    #[doc = doc!("public.IdType.encode")]
    #[pyo3(signature = (number, /))]
    fn encode<'py>(&self, number: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let text = self.of.encode(convert::number(number, NUMBER, 0..=self.most)?);
        ascii(number.py(), text.map_err(raise)?.as_bytes())
    }

    #[doc = doc!("public.IdType.encode_many")]
    #[pyo3(signature = (numbers, /))]
    fn encode_many<'py>(&self, numbers: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (py, numbers) = (numbers.py(), self.numbers(numbers)?);
        let mut texts = try_with_capacity(numbers.len())?;
        let write = |text: &str| texts.push(ascii(py, text.as_bytes()));
        self.of.encode_many(&numbers, write).map_err(|error| raise_named(error, NUMBERS))?;
        PyList::new(py, texts.into_iter().collect::<PyResult<Vec<_>>>()?)
    }

    #[doc = doc!("public.IdType.decode")]
    #[pyo3(signature = (text, /))]
    fn decode(&self, text: Argument<Text<'_>, name::text>) -> PyResult<u64> {
        self.of.decode(&text.0).map_err(raise)
    }

    #[doc = doc!("public.IdType.decode_many")]
    #[pyo3(signature = (texts, /))]
    fn decode_many(&self, texts: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let py = texts.py();
        let items = parse_items(texts, TEXTS, "an iterable of str", |item| {
            let text = item.cast::<PyString>().map(|text| text.clone().unbind());
            Ok(text.map_err(|_| wrong_type_error(TEXTS, "str", &type_name(item))))
        })?;
        let texts =
            items.iter().map(|text| Text::from_argument(text.as_any().bind_borrowed(py), TEXTS));
        let texts = texts.collect::<PyResult<Vec<_>>>()?;
        self.of.decode_many(texts.iter().map(|text| &**text)).map_err(raise)
    }

    fn __repr__(&self) -> String {
        format!("<IdType {:?}>", self.of.name())
    }

    /// Returns the object itself instead of a copy, because libraries copy the objects that appear in annotations and
    /// fields.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Rejects pickling, so that no pickle contains the key.
    #[allow(clippy::unused_self, reason = "Python calls it with one")]
    fn __reduce__(&self) -> PyResult<()> {
        reject_copy("expected one type, found a copy: make another one from the secret")
    }
}
