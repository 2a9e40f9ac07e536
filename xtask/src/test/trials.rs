//! Trials of the packages with the newest versions of other people's tools: slow, and dependent on what the registries
//! serve today, so they run with `--thorough` alone.

use super::{
    Step,
    packaging::{self, python_integrations, python_tools, rust_libraries},
};

pub const ALL: &[Step] = &[
    Step::new("docs-rs", packaging::docs_rs),
    Step::new("rust-libraries-oldest", rust_libraries::oldest),
    Step::new("rust-libraries-newest", rust_libraries::newest),
    Step::new("npm-next", |sh| packaging::newest_with_browser(sh, "next")),
    Step::new("npm-webpack", |sh| packaging::newest_with_browser(sh, "webpack")),
    Step::new("npm-rspack", |sh| packaging::newest(sh, "rspack")),
    Step::new("npm-vite", |sh| packaging::newest_with_browser(sh, "vite")),
    Step::new("npm-rollup", |sh| packaging::newest_with_browser(sh, "rollup")),
    Step::new("npm-parcel", |sh| packaging::newest_with_browser(sh, "parcel")),
    Step::new("npm-esbuild", |sh| packaging::newest_with_browser(sh, "esbuild")),
    Step::new("npm-jest", |sh| packaging::newest(sh, "jest")),
    Step::new("npm-vitest", |sh| packaging::newest(sh, "vitest")),
    Step::new("npm-sinon", |sh| packaging::newest(sh, "sinon")),
    Step::new("npm-types", |sh| packaging::newest(sh, "types")),
    Step::new("npm-types-node10", |sh| packaging::newest(sh, "types-node10")),
    Step::new("npm-lint", |sh| packaging::newest(sh, "lint")),
    Step::new("npm-csp", |sh| packaging::newest_with_browser(sh, "csp")),
    Step::new("npm-node-versions", |sh| packaging::newest(sh, "node-versions")),
    Step::new("npm-runtimes", |sh| packaging::newest(sh, "runtimes")),
    Step::new("npm-react-native", |sh| packaging::newest(sh, "react-native")),
    Step::new("npm-schemas", |sh| packaging::newest(sh, "schemas")),
    Step::new("npm-schemas-oldest", |sh| packaging::oldest(sh, "schemas")),
    Step::new("npm-validators", |sh| packaging::newest(sh, "validators")),
    Step::new("npm-databases", |sh| packaging::with_postgresql(sh, "databases", packaging::newest)),
    Step::new("npm-databases-oldest", |sh| {
        packaging::with_postgresql(sh, "databases", packaging::oldest)
    }),
    Step::new("npm-prisma", |sh| packaging::with_postgresql(sh, "prisma", packaging::newest)),
    Step::new("npm-prisma-oldest", |sh| {
        packaging::with_postgresql(sh, "prisma", packaging::oldest)
    }),
    Step::new("npm-next-model", |sh| {
        packaging::with_postgresql(sh, "next-model", packaging::newest)
    }),
    Step::new("npm-servers", |sh| packaging::newest(sh, "servers")),
    Step::new("pandas", python_tools::pandas),
    Step::new("polars", python_tools::polars),
    Step::new("pyarrow", python_tools::pyarrow),
    Step::new("duckdb", python_tools::duckdb),
    Step::new("python-mocked-time", python_tools::mocked_time),
    Step::new("python-integrations-newest", python_integrations::newest),
    Step::new("python-integrations-oldest", python_integrations::oldest),
    Step::new("python-type-checkers", python_tools::type_checkers),
    Step::new("oldest-python", python_tools::oldest_python),
];
