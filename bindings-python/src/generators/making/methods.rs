//! The methods of generators, and the types that these methods use in the fixed formats.

/// Defines the methods that generate IDs for a generator class. The macro's arguments are the ID format, the class's name,
/// the caller's argument with its type and default, and the signatures that `help` shows.
///
/// A macro defines the methods, because the argument's keyword differs by format and must be available to PyO3 at compile
/// time. Otherwise, PyO3 would parse arguments more slowly than for a plain method.
macro_rules! id_methods {
    (
        $family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?)
        $one:literal $many:literal $buffer:literal
    ) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_one(py, self, Mode::Wait, ($($key)?), <Self as making::IdMaker>::object)
            }

            #[doc = doc!($family $class try_generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_one(py, self, Mode::Try, ($($key)?), <Self as making::IdMaker>::object)
            }

            #[doc = doc!($family $class generate_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_async(slf, ($($key)?), <Self as making::IdMaker>::object)
            }

            #[doc = doc!($family $class generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many<'py>(&self, py: Python<'py>, n: Count $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_array(py, self, Mode::Wait, n, ($($key)?))
            }

            #[doc = doc!($family $class try_generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn try_generate_many<'py>(&self, py: Python<'py>, n: Count $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_array(py, self, Mode::Try, n, ($($key)?))
            }

            #[doc = doc!($family $class generate_many_async)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many_async<'py>(slf: &Bound<'py, Self>, n: Count $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_many_async(slf, n, ($($key)?))
            }

            #[doc = doc!($family $class fill)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn fill(&self, buffer: &Bound<'_, PyAny> $(, $key: $Key)?) -> PyResult<()> {
                making::fill(self, Mode::Wait, buffer, ($($key)?)).map(drop)
            }

            #[doc = doc!($family $class try_fill)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn try_fill(&self, buffer: &Bound<'_, PyAny> $(, $key: $Key)?) -> PyResult<usize> {
                making::fill(self, Mode::Try, buffer, ($($key)?))
            }

            #[doc = doc!($family $class fill_async)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn fill_async<'py>(slf: &Bound<'py, Self>, buffer: &Bound<'py, PyAny> $(, $key: $Key)?) -> CallResult<'py> {
                making::fill_async(slf, buffer, ($($key)?))
            }
        }
    };
}

/// Defines the methods that generate ID strings.
macro_rules! text_methods {
    ($family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?) $one:literal) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_one(py, self, Mode::Wait, ($($key)?), Self::text)
            }

            #[doc = doc!($family $class try_generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_one(py, self, Mode::Try, ($($key)?), Self::text)
            }

            #[doc = doc!($family $class generate_text_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_text_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> CallResult<'py> {
                making::generate_async(slf, ($($key)?), Self::text)
            }
        }
    };
}

/// Defines a format's module-level functions, which use the format's default generator. The macro takes the same arguments
/// as [`id_methods`].
macro_rules! module_functions {
    (
        $family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?)
        $one:literal $many:literal
    ) => {
        #[doc = doc!($family generate)]
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
        pub(crate) fn generate(py: Python<'_> $(, $key: $Key)?) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| generator.get().generate(py $(, $key)?))
        }

        #[doc = doc!($family generate_text)]
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
        pub(crate) fn generate_text(py: Python<'_> $(, $key: $Key)?) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| generator.get().generate_text(py $(, $key)?))
        }

        #[doc = doc!($family generate_many)]
        #[pyo3::pyfunction]
        #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
        pub(crate) fn generate_many(py: Python<'_>, n: Count $(, $key: $Key)?) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| generator.get().generate_many(py, n $(, $key)?))
        }

        #[doc = doc!($family generate_async)]
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
        pub(crate) fn generate_async(py: Python<'_> $(, $key: $Key)?) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| $class::generate_async(generator $(, $key)?))
        }

        #[doc = doc!($family generate_text_async)]
        #[pyo3::pyfunction]
        #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
        pub(crate) fn generate_text_async(py: Python<'_> $(, $key: $Key)?) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| $class::generate_text_async(generator $(, $key)?))
        }

        #[doc = doc!($family generate_many_async)]
        #[pyo3::pyfunction]
        #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
        pub(crate) fn generate_many_async(
            py: Python<'_>,
            n: Count
            $(, $key: $Key)?
        ) -> CallResult<'_> {
            DEFAULT.with_generator(py, |generator| {
                $class::generate_many_async(generator, n $(, $key)?)
            })
        }

        #[doc = doc!($family set_default_generator)]
        #[pyo3::pyfunction]
        #[pyo3(signature = (generator, /))]
        pub(crate) fn set_default_generator(
            py: Python<'_>,
            generator: default::Argument<$class>,
        ) -> PyResult<()> {
            DEFAULT.set(py, generator.0.0)
        }
    };
}

/// Implements [`IdMaker`] for a format's generators. The macro's first arguments are the core's format, the generator
/// class, the type of an ID, and the type of an array of IDs. The next two are the item that represents an ID in a buffer,
/// and the function that returns the Python object for an ID. The last three are the type of the caller's argument, the
/// type of the core's key for each ID, and the function that converts the argument to the key.
macro_rules! impl_id_maker {
    (
        $family:ident $class:ident $Id:ident $Array:ident $item:expr, $object:expr,
        $Argument:ty => $Key:ty, $key:expr
    ) => {
        impl making::IdMaker for $class {
            type LeasedGenerator = polyflake::$family::Leased<PythonClock>;
            type Argument = $Argument;
            type Key = $Key;
            type Memory = making::Items<$Id>;

            #[inline]
            fn source(&self) -> &Source<Self::LeasedGenerator> {
                &self.inner
            }

            #[inline]
            fn key(&self, argument: $Argument) -> PyResult<$Key> {
                let key: fn(&Self, $Argument) -> $Key = $key;
                Ok(key(self, argument))
            }

            #[inline]
            fn param(key: &$Key) -> $Key {
                *key
            }

            #[inline]
            fn object(py: Python<'_>, id: $Id) -> CallResult<'_> {
                let object: fn(Python<'_>, $Id) -> PyResult<Bound<'_, PyAny>> = $object;
                object(py, id)
            }

            fn memory(&self) -> Self::Memory {
                making::Items::new($item)
            }

            fn rows(memory: &mut Self::Memory) -> &mut dyn making::Rows {
                memory
            }

            fn batch(memory: &mut Self::Memory, places: std::ops::Range<usize>) -> &mut [$Id] {
                memory.items_at(places)
            }

            fn array(py: Python<'_>, memory: Self::Memory) -> CallResult<'_> {
                let ids = polyflake_columns::Packed::new(memory.ids);
                Ok($crate::ids::array::array::<$Array, $Id>(py, ids)?.into_any())
            }
        }

        impl $class {
            /// Returns the Python object for an ID's string.
            #[inline]
            fn text(py: Python<'_>, id: $Id) -> CallResult<'_> {
                Ok($crate::ids::text::Ascii(id.text()).into_pyobject(py)?.into_any())
            }
        }
    };
}
pub(crate) use {id_methods, impl_id_maker, module_functions, text_methods};
