//! The Python module `polyflake._polyflake`: classes that wrap the core's types, conversions, and the mapping from errors
//! to exceptions. `build.rs` generates all of the module's documentation from the package's stubs (`packages/python`).

#![allow(clippy::doc_markdown, reason = "the documentation is Python's, and marked up for it")]
#![allow(clippy::needless_pass_by_value, reason = "arguments come out of Python as values")]

// The docstrings from the package's stubs, keyed by the names of the documented items.
include!(concat!(env!("OUT_DIR"), "/docs.rs"));

mod arrow;
mod errors;
mod first_value;
mod generators;
mod ids;

// Each ID format has its own folder.
mod hotguid {
    pub(crate) mod generator;
    pub(crate) mod ids;
}
mod layout {
    pub(crate) mod generator;
    pub(crate) mod ids;
}
mod randflake {
    pub(crate) mod generator;
    pub(crate) mod ids;
}
mod sno {
    pub(crate) mod generator;
    mod hooks;
    pub(crate) mod ids;
}
mod uuid7 {
    pub(crate) mod generator;
    pub(crate) mod ids;
}

#[doc = doc!("_polyflake.after_restore")]
#[pyo3::pyfunction]
fn after_restore(py: pyo3::Python<'_>) -> pyo3::PyResult<()> {
    polyflake::after_restore().map_err(errors::raise)?;
    generators::leased::wake_leases(py)
}

#[doc = doc!("_polyflake.watch_restores")]
#[pyo3::pyfunction]
fn watch_restores() -> pyo3::PyResult<()> {
    polyflake::watch_restores().map_err(errors::raise)
}

#[pyo3::pymodule(gil_used = false)]
mod _polyflake {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::generators::clock::{Stall, clock_source};
    #[pymodule_export]
    use crate::generators::leased::{
        Keeper, begin_check, check_file, name_file, parse_lease_url, restores,
    };
    #[pymodule_export]
    use crate::ids::describe::{Description, FieldDescription};
    #[pymodule_export]
    use crate::{after_restore, watch_restores};

    #[doc = doc!("hotguid")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod hotguid {
        #[pymodule_init]
        fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            crate::hotguid::generator::install_direct(module)
        }

        #[pymodule_export]
        use crate::hotguid::generator::{
            Generator, Stats, generate, generate_async, generate_many, generate_many_async,
            generate_text, generate_text_async, set_default_generator,
        };
        #[pymodule_export]
        use crate::hotguid::ids::{
            HotGuidArray, Parts, Uuid8Parts, describe, from_dotnet_bytes, from_parts, from_sql,
            parse, parts, shard_key, time_range, timestamp, to_dotnet_bytes, to_sql,
        };
    }

    #[doc = doc!("layout")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod layout {
        #[pymodule_export]
        use crate::layout::generator::{Generator, Snapshot, Stats};
        #[pymodule_export]
        use crate::layout::ids::{Layout, LayoutArray, Parsed, ParsedColumns, presets};
    }

    #[doc = doc!("public")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod public {
        #[pymodule_export]
        use crate::ids::public::{IdType, Keyring};
    }

    #[doc = doc!("randflake")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod randflake {
        #[pymodule_export]
        use crate::randflake::generator::{Generator, Stats};
        #[pymodule_export]
        use crate::randflake::ids::{
            Codec, Grant, Parts, PartsColumns, RandflakeArray, TextColumn, decode_text, describe,
            encode_text, from_unsigned, to_unsigned,
        };
    }

    #[doc = doc!("sno")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod sno {
        #[pymodule_init]
        fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            crate::sno::generator::install_direct(module)
        }

        #[pymodule_export]
        use crate::ids::fields::FieldColumn;
        #[pymodule_export]
        use crate::ids::kinds::by_metabyte;
        #[pymodule_export]
        use crate::ids::text::TextColumn;
        #[pymodule_export]
        use crate::sno::generator::{
            Generator, Snapshot, Stats, generate, generate_async, generate_many,
            generate_many_async, generate_text, generate_text_async, set_default_generator,
        };
        #[pymodule_export]
        use crate::sno::ids::{
            Sno, SnoArray, describe, from_json_value, metabyte, time_range, to_json_value,
        };
    }

    #[doc = doc!("sparx64")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod sparx64 {
        #[pymodule_export]
        use crate::ids::sparx64::Sparx64;
    }

    #[doc = doc!("uuid7")]
    #[pymodule]
    #[pyo3(module = "polyflake")]
    mod uuid7 {
        #[pymodule_export]
        use crate::uuid7::generator::{
            Generator, Stats, generate, generate_async, generate_many, generate_many_async,
            generate_text, generate_text_async, set_default_generator,
        };
        #[pymodule_export]
        use crate::uuid7::ids::{
            Parts, Uuid7Array, describe, from_parts, generate_at, parse, parts, time_range,
            unix_ms, worker_id,
        };
    }

    #[pymodule_init]
    fn init(py: Python<'_>) -> PyResult<()> {
        polyflake::fork::prepare().map_err(crate::errors::raise)?;
        crate::first_value::import_modules(py)?;
        crate::errors::exception_builder(py)?;
        crate::ids::object::prepare_class::<crate::sno::ids::Sno>(py)?;
        crate::hotguid::generator::DEFAULT.own_generator(py)?;
        crate::sno::generator::DEFAULT.own_generator(py)?;
        crate::uuid7::generator::DEFAULT.own_generator(py).map(drop)
    }
}
