//! The methods of generators, and the types that the fixed formats use in them.

/// Defines the methods that generate IDs for a class of generators. The arguments are the ID format, the class's name, the
/// caller's argument with its type and default, and the signatures that `help` shows.
///
/// The methods are defined by a macro because the argument's keyword differs by format. PyO3 parses arguments as fast as for a
/// plain method only if it knows the keyword at compile time.
macro_rules! makes_ids {
    (
        $family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?)
        $one:literal $many:literal $buffer:literal
    ) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> Made<'py> {
                making::one(py, self, Mode::Wait, ($($key)?))
            }

            #[doc = doc!($family $class try_generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> Made<'py> {
                making::one(py, self, Mode::Try, ($($key)?))
            }

            #[doc = doc!($family $class generate_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> Made<'py> {
                making::later(slf, ($($key)?), <Self as making::Makes>::object)
            }

            #[doc = doc!($family $class generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many<'py>(&self, py: Python<'py>, n: Count $(, $key: $Key)?) -> Made<'py> {
                making::many(py, self, Mode::Wait, n, ($($key)?))
            }

            #[doc = doc!($family $class try_generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn try_generate_many<'py>(&self, py: Python<'py>, n: Count $(, $key: $Key)?) -> Made<'py> {
                making::many(py, self, Mode::Try, n, ($($key)?))
            }

            #[doc = doc!($family $class generate_many_async)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many_async<'py>(slf: &Bound<'py, Self>, n: Count $(, $key: $Key)?) -> Made<'py> {
                making::many_later(slf, n, ($($key)?))
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
            fn fill_async<'py>(slf: &Bound<'py, Self>, buffer: &Bound<'py, PyAny> $(, $key: $Key)?) -> Made<'py> {
                making::fill_later(slf, buffer, ($($key)?))
            }
        }
    };
}

/// Defines the methods that generate ID strings.
macro_rules! makes_texts {
    ($family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?) $one:literal) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> Made<'py> {
                making::text(py, self, Mode::Wait, ($($key)?))
            }

            #[doc = doc!($family $class try_generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> Made<'py> {
                making::text(py, self, Mode::Try, ($($key)?))
            }

            #[doc = doc!($family $class generate_text_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_text_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> Made<'py> {
                making::later(slf, ($($key)?), <Self as making::MakesTexts>::text)
            }
        }
    };
}

/// Implements [`Makes`] for a format's generators. The arguments are the format in the core, the types of an ID and its array,
/// its item in a buffer, and its Python object. They also include the core's key for each ID, and how the class reads it from
/// an argument.
macro_rules! makes {
    (
        $family:ident $class:ident $Id:ident $Array:ident $item:expr, $object:expr,
        $Param:ty => ($($key:ident)?) $Key:ty, $param:expr
    ) => {
        impl making::Makes for $class {
            type Param = $Param;
            type Source = $crate::generators::leased::Source<polyflake::$family::Leased<PythonClock>>;

            #[inline]
            fn source(&self) -> &Self::Source {
                &self.inner
            }

            #[inline]
            fn key(&self, param: $Param) -> $Key {
                let key: fn(&Self, $Param) -> $Key = $param;
                key(self, param)
            }

            #[inline]
            fn object(py: Python<'_>, id: $Id) -> PyResult<Bound<'_, PyAny>> {
                let object: fn(Python<'_>, $Id) -> PyResult<Bound<'_, PyAny>> = $object;
                object(py, id)
            }
        }

        impl making::MakesTexts for $class {
            #[inline]
            fn text(py: Python<'_>, id: $Id) -> PyResult<Bound<'_, PyAny>> {
                Ok($crate::ids::text::Ascii(id.text()).into_pyobject(py)?.into_any())
            }
        }

        impl making::MakesMany for $class {
            fn with_rows<W: making::WithRows<Self>>(&self, work: W) -> PyResult<W::Made> {
                work.with(making::Rows::<$Id>::of::<$Array>($item))
            }
        }

        making::generates! {
            polyflake::$family::Generator<PythonClock>, $Id, $Key, ($($key)?), ($($key,)?)
        }
        making::generates! {
            polyflake::$family::Leased<PythonClock>, $Id, $Key, ($($key)?), (($($key)?),)
        }
    };
}

/// Implements [`Generates`] and [`Fills`] for one of the core's generators. Its calls take the arguments `$($given)*`, which
/// are computed from the key.
macro_rules! generates {
    ($Generator:ty, $Id:ident, $Key:ty, ($($key:ident)?), ($($given:tt)*)) => {
        impl making::Generates for $Generator {
            type Key = $Key;
            type Id = $Id;

            #[inline]
            fn one(&self, mode: Mode, _key: &$Key) -> polyflake::Result<$Id> {
                $(let $key = *_key;)?
                match mode {
                    Mode::Wait => self.generate($($given)*),
                    Mode::Try => self.try_generate($($given)*),
                }
            }

            async fn one_async(&self, _key: &$Key) -> polyflake::Result<$Id> {
                $(let $key = *_key;)?
                self.generate_async(sleep, $($given)*).await
            }
        }

        impl making::Fills<$Id> for $Generator {
            fn write(&self, mode: Mode, _key: &$Key, ids: &mut [$Id]) -> polyflake::Result<Option<usize>> {
                $(let $key = *_key;)?
                match mode {
                    Mode::Wait => self.fill($($given)* ids).map(|()| None),
                    Mode::Try => self.try_fill($($given)* ids).map(Some),
                }
            }

            async fn write_async(&self, _key: &$Key, ids: &mut [$Id]) -> polyflake::Result<()> {
                $(let $key = *_key;)?
                self.fill_async(sleep, $($given)* ids, &mut 0).await
            }
        }
    };
}
pub(crate) use {generates, makes, makes_ids, makes_texts};
