//! The methods of generators, and the fixed families' types for them.

/// Defines the methods by which a class of generators makes IDs: family, class, the caller's argument, and its
/// signature in `help`.
macro_rules! makes_ids {
    ($family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?) $one:literal $many:literal $buffer:literal) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::one(py, self, $crate::generators::making::Mode::Wait, ($($key)?))
            }

            #[doc = doc!($family $class try_generate)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::one(py, self, $crate::generators::making::Mode::Try, ($($key)?))
            }

            #[doc = doc!($family $class generate_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::later(slf, ($($key)?), <Self as $crate::generators::making::Makes>::object)
            }

            #[doc = doc!($family $class generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many<'py>(&self, py: Python<'py>, n: $crate::ids::convert::Count $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::MakesMany::with_rows(self, $crate::generators::making::Many { py, maker: self, mode: $crate::generators::making::Mode::Wait, n, param: ($($key)?) })
            }

            #[doc = doc!($family $class try_generate_many)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn try_generate_many<'py>(&self, py: Python<'py>, n: $crate::ids::convert::Count $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::MakesMany::with_rows(self, $crate::generators::making::Many { py, maker: self, mode: $crate::generators::making::Mode::Try, n, param: ($($key)?) })
            }

            #[doc = doc!($family $class generate_many_async)]
            #[pyo3(signature = (n, / $(, $key = $default)?), text_signature = $many)]
            fn generate_many_async<'py>(slf: &Bound<'py, Self>, n: $crate::ids::convert::Count $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::MakesMany::with_rows(slf.get(), $crate::generators::making::ManyLater { maker: slf, n, param: ($($key)?) })
            }

            #[doc = doc!($family $class fill)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn fill(&self, buffer: &Bound<'_, PyAny> $(, $key: $Key)?) -> PyResult<()> {
                let fill = $crate::generators::making::Fill { maker: self, mode: $crate::generators::making::Mode::Wait, buffer, param: ($($key)?) };
                $crate::generators::making::MakesMany::with_rows(self, fill).map(drop)
            }

            #[doc = doc!($family $class try_fill)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn try_fill(&self, buffer: &Bound<'_, PyAny> $(, $key: $Key)?) -> PyResult<usize> {
                $crate::generators::making::MakesMany::with_rows(self, $crate::generators::making::Fill { maker: self, mode: $crate::generators::making::Mode::Try, buffer, param: ($($key)?) })
            }

            #[doc = doc!($family $class fill_async)]
            #[pyo3(signature = (buffer, / $(, $key = $default)?), text_signature = $buffer)]
            fn fill_async<'py>(slf: &Bound<'py, Self>, buffer: &Bound<'py, PyAny> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::MakesMany::with_rows(slf.get(), $crate::generators::making::FillLater { maker: slf, buffer, param: ($($key)?) })
            }
        }
    };
}

/// Defines the methods of classes whose IDs have texts.
macro_rules! makes_texts {
    ($family:ident $class:ident ($($key:ident: $Key:ty = $default:expr)?) $one:literal) => {
        #[pyo3::pymethods]
        impl $class {
            #[doc = doc!($family $class generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            #[inline]
            fn generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::text(py, self, $crate::generators::making::Mode::Wait, ($($key)?))
            }

            #[doc = doc!($family $class try_generate_text)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn try_generate_text<'py>(&self, py: Python<'py> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::text(py, self, $crate::generators::making::Mode::Try, ($($key)?))
            }

            #[doc = doc!($family $class generate_text_async)]
            #[pyo3(signature = ($($key = $default)?), text_signature = $one)]
            fn generate_text_async<'py>(slf: &Bound<'py, Self> $(, $key: $Key)?) -> PyResult<Bound<'py, PyAny>> {
                $crate::generators::making::later(slf, ($($key)?), <Self as $crate::generators::making::MakesTexts>::text)
            }
        }
    };
}

/// Implements [`Makes`] for the generators of a family: their family in the core, the type of an ID, its array, its place in a
/// buffer, its Python object; and the core's key for each ID, which the class reads from an argument.
macro_rules! makes {
    (
        $family:ident $class:ident $Id:ident $Array:ident $item:expr, $object:expr,
        $Param:ty => ($($key:ident)?) $Key:ty, $param:expr
    ) => {
        impl $crate::generators::making::Makes for $class {
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

        impl $crate::generators::making::MakesTexts for $class {
            #[inline]
            fn text(py: Python<'_>, id: $Id) -> PyResult<Bound<'_, PyAny>> {
                Ok($crate::ids::text::Ascii(id.text()).into_pyobject(py)?.into_any())
            }
        }

        impl $crate::generators::making::MakesMany for $class {
            fn with_rows<W: $crate::generators::making::WithRows<Self>>(&self, work: W) -> PyResult<W::Made> {
                work.with($crate::generators::making::Rows::<$Id>::of::<$Array>($item))
            }
        }

        $crate::generators::making::generates! {
            polyflake::$family::Generator<PythonClock>, $Id, $Key, ($($key)?), ($($key,)?)
        }
        $crate::generators::making::generates! {
            polyflake::$family::Leased<PythonClock>, $Id, $Key, ($($key)?), (($($key)?),)
        }
    };
}

/// Implements [`Generates`] and [`Fills`] for a generator of the core, whose calls take the arguments `$($given)*`, made of the
/// key.
macro_rules! generates {
    ($Generator:ty, $Id:ident, $Key:ty, ($($key:ident)?), ($($given:tt)*)) => {
        impl $crate::generators::making::Generates for $Generator {
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

        impl $crate::generators::making::Fills<$Id> for $Generator {
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
