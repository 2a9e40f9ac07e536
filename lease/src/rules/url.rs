//! The URL of a lease, which specifies the store, the connection to the store, the namespace, and the terms of the lease.
//! All languages use this parser and pass the parsed parts to their clients, so that all clients interpret a URL in the
//! same way.
//!
//! ```text
//! sqlite:/var/lib/app/ids.db?namespace=orders
//! postgres://user:password@host:5432,other:5433/database?namespace=orders&sslmode=require
//! mysql://user:password@host:3306/database?namespace=orders
//! https://token@host?namespace=orders
//! rediss://:password@host:6379/0?namespace=orders
//! ```
//!
//! Errors contain names but never values, because any part of a URL can contain a password.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, str::FromStr};

use serde_json::{Value as Json, json};

#[cfg(feature = "std")]
use crate::Options;
use crate::{
    Error, ErrorKind, Result,
    rules::access::{Access, Create, SECOND_STORE, Schema, is_durable_storage},
    rules::error::out_of_range,
    rules::json::MAX_SAFE_INTEGER,
    rules::platforms::{self, Platform},
    rules::record::check_name,
    rules::volatile_store::check_lease,
};

/// An example of a valid URL, for use in messages.
pub(crate) const EXAMPLE_URL: &str = "`sqlite:/var/lib/app/ids.db?namespace=orders`";

/// The supported URL schemes of stores, shown in messages.
const SUPPORTED_SCHEMES_HINT: &str = "supported are `sqlite:`, `postgres:`, `postgresql:`, `mysql:`, `mariadb:`, `redis:`, `rediss:` and `https:`";

/// The default ports of `PostgreSQL`, `MySQL`, `Redis`, HTTPS and HTTP.
const POSTGRESQL_PORT: u16 = 5432;
const MYSQL_PORT: u16 = 3306;
const REDIS_PORT: u16 = 6379;
const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

const ESCAPING_HINT: &str = "write special characters of a user, a password or a database as `%` and two hexadecimal digits";

/// The parameters that are valid in any URL. The constants below list the additional parameters for each type of store.
pub(crate) const LEASE_PARAMETERS: [&str; 7] =
    ["namespace", "lease_seconds", "worker_ids", "wait", "sigterm", "renew_seconds", "strict"];
const FILE_PARAMETERS: [&str; 1] = ["allow"];
const POSTGRESQL_PARAMETERS: [&str; 14] = [
    "schema",
    "create",
    "storage",
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "connect_timeout",
    "application_name",
    "options",
    "target_session_attrs",
];
const MYSQL_PARAMETERS: [&str; 9] = [
    "storage",
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "connect_timeout",
];

const HTTP_PARAMETERS: [&str; 2] = ["sslrootcert", "connect_timeout"];

const REDIS_PARAMETERS: [&str; 8] =
    ["host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "connect_timeout"];

/// The parts of a URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StoreUrl {
    pub(crate) site: StoreAddress,
    pub(crate) namespace: Option<String>,
    /// The schema, if the URL specifies one.
    pub(crate) schema: Option<Schema>,
    pub(crate) access: Access,
    pub(crate) terms: LeaseParameters,
}

/// The address of a store.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    /// An in-memory store, identified by its name.
    Memory(String),
    /// The path of an `SQLite` file.
    File(String),
    /// A `PostgreSQL` server.
    Server(Server),
    /// A `MySQL` or `MariaDB` server: one host and a database.
    Mysql(Server),
    /// A `Redis` or `Valkey` server: one host and a database number.
    Redis(Server),
    /// An HTTP service (`polyflake lease serve`) on a single host. The password is a token for the service.
    Http(Server),
}

/// A server and its connection settings.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Server {
    /// Host names, IP addresses or Unix socket directories, each with a port. The client uses the server that accepts
    /// writes. For `MySQL` and `Redis`, the list contains a single host name, IP address or Unix socket path.
    pub(crate) hosts: Vec<(String, u16)>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: Option<String>,
    /// Whether connections are encrypted. If they are, the client verifies the certificate.
    pub(crate) encrypts: bool,
    /// The absolute path of a file with root certificates, which replace the client's default root certificates.
    pub(crate) roots: Option<String>,
    /// Whether a host is used only if it accepts writes. This is always the case if there are several hosts.
    pub(crate) read_write: bool,
    /// The connection timeout, in seconds.
    pub(crate) connect_timeout: Option<u64>,
    pub(crate) application_name: Option<String>,
    pub(crate) options: Option<String>,
}

/// The terms of the lease that the URL specifies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaseParameters {
    pub(crate) lease_ms: Option<u64>,
    pub(crate) worker_ids: Option<(u64, u64)>,
    pub(crate) wait_ms: Option<u64>,
    /// `true` if the program should release the worker ID on SIGTERM.
    pub(crate) sigterm: Option<bool>,
    pub(crate) renew_ms: Option<u64>,
    /// `true` if IDs are withheld after a gap between the clocks.
    pub(crate) strict: Option<bool>,
}

#[cfg(feature = "std")]
impl LeaseParameters {
    /// Applies the terms that affect the keeper to the keeper's options.
    pub(crate) fn apply(&self, mut options: Options) -> Result<Options> {
        if let Some(lease_ms) = self.lease_ms {
            options = options.lease_ms(lease_ms)?;
        }
        if let Some(renew_ms) = self.renew_ms {
            options = options.renew_ms(renew_ms)?;
        }
        Ok(if self.strict == Some(true) { options.strict() } else { options })
    }
}

impl StoreUrl {
    /// Parses the URL of a store.
    ///
    /// # Errors
    /// Returns `out_of_range` if the URL is malformed, if its scheme is not supported, or if a parameter is unknown,
    /// repeated or invalid. Returns `store_not_durable` for an in-memory database. The error's reason is worded as the
    /// continuation of a sentence about the URL.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if url.is_empty() {
            return Err(out_of_range(format!(
                "it is empty; set it to a URL such as {EXAMPLE_URL}"
            )));
        }
        if url.trim().is_empty() {
            return Err(out_of_range(format!(
                "it is blank; set it to a URL such as {EXAMPLE_URL}"
            )));
        }
        if url != url.trim() || url.contains(char::is_control) {
            return Err(out_of_range("it has white space around it, or control characters within"));
        }
        let (before, query) = url.split_once('?').unwrap_or((url, ""));
        match before.split_once(':').map(|(scheme, rest)| (base_scheme(scheme), rest)) {
            Some(("memory", name)) => {
                let mut parameters = Parameters::parse(query, "memory", &[])?;
                Self::with(
                    StoreAddress::Memory(name.to_string()),
                    None,
                    Access::default(),
                    &mut parameters,
                )
            }
            Some(("sqlite", path)) => Self::parse_file(path, query),
            Some(("postgres" | "postgresql", rest)) => Self::parse_postgresql(rest, query),
            Some(("mysql" | "mariadb", rest)) => Self::parse_mysql(rest, query),
            Some(("redis" | "valkey", rest)) => Self::parse_redis(rest, query, false),
            Some(("rediss" | "valkeys", rest)) => Self::parse_redis(rest, query, true),
            Some(("https", rest)) => Self::parse_http(rest, query, true),
            Some(("http", rest)) => Self::parse_http(rest, query, false),
            Some((scheme, _)) if is_scheme(scheme) => {
                let reason =
                    format!("the scheme `{scheme}:` is not supported; {SUPPORTED_SCHEMES_HINT}");
                Err(platforms::reject_scheme(scheme).unwrap_or_else(|| out_of_range(reason)))
            }
            _ => {
                let remedy = "write `sqlite:` before the path of a file, or a URL that begins with `postgres://`";
                Err(out_of_range(format!("it has no scheme; {remedy}")))
            }
        }
    }

    fn parse_file(path: &str, query: &str) -> Result<Self> {
        let mut parameters = Parameters::parse(query, "SQLite", &FILE_PARAMETERS)?;
        let allows_overlayfs = match parameters.remove("allow").as_deref() {
            None => false,
            Some("overlayfs") => true,
            Some(_) => return Err(out_of_range("`allow` can only be `overlayfs`")),
        };
        let access = Access { allows_overlayfs, ..Access::default() };
        Self::with(StoreAddress::File(parse_path(path)?), None, access, &mut parameters)
    }

    fn parse_postgresql(rest: &str, query: &str) -> Result<Self> {
        let authority = Authority::parse(rest, "postgres")?;
        let mut parameters = Parameters::parse(query, "PostgreSQL", &POSTGRESQL_PARAMETERS)?;
        let schema = parameters.remove("schema").as_deref().map(Schema::new).transpose()?;
        let create = match parameters.remove("create").as_deref() {
            None => Create::Store,
            Some(SECOND_STORE) => Create::SecondStore,
            Some(_) => {
                return Err(out_of_range(format!("`create` can only be `{SECOND_STORE}`")));
            }
        };
        let has_durable_storage = is_durable_storage(parameters.remove("storage").as_deref())?;
        let server = Server::from_authority(authority, POSTGRESQL_PORT, &mut parameters)?;
        let access = Access { create, has_durable_storage, ..Access::default() };
        Self::with(StoreAddress::Server(server), schema, access, &mut parameters)
    }

    fn parse_mysql(rest: &str, query: &str) -> Result<Self> {
        let authority = Authority::parse(rest, "mysql")?;
        let mut parameters = Parameters::parse(query, "MySQL", &MYSQL_PARAMETERS)?;
        let has_durable_storage = is_durable_storage(parameters.remove("storage").as_deref())?;
        let access = Access { has_durable_storage, ..Access::default() };
        let server = Server::from_authority(authority, MYSQL_PORT, &mut parameters)?;
        if server.hosts.len() > 1 {
            return Err(out_of_range("a URL of MySQL names one host"));
        }
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if server.user.is_none() {
            // Without a user name, clients in different languages would connect as different users.
            return Err(out_of_range(
                "it names no user; add one, as in `mysql://user@host/database`",
            ));
        }
        match &server.database {
            None => Err(out_of_range(
                "it names no database; add one, as in `mysql://user@host/database`",
            )),
            // The tables' file names contain the database name, in which the server encodes all characters except letters,
            // digits, `_` and `-`.
            Some(name) if !name.bytes().all(is_part) => Err(out_of_range(
                "its database has other characters than letters, digits, `_` and `-`",
            )),
            Some(_) => Self::with(StoreAddress::Mysql(server), None, access, &mut parameters),
        }
    }

    /// Parses a `Redis` URL. As in other `Redis` clients, the scheme determines whether the connection is encrypted.
    fn parse_redis(rest: &str, query: &str, encrypts: bool) -> Result<Self> {
        let scheme = if encrypts { "rediss" } else { "redis" };
        let authority = Authority::parse(rest, scheme)?;
        let mut parameters = Parameters::parse(query, "Redis", &REDIS_PARAMETERS)?;
        let is_plain = match parameters.remove("sslmode").as_deref() {
            None => false,
            Some("disable") if !encrypts => true,
            Some(_) => {
                let reason = "`sslmode` can only be `disable`, after `redis:`; `rediss:` encrypts";
                return Err(out_of_range(reason));
            }
        };
        let server = Server::from_authority(authority, REDIS_PORT, &mut parameters)?;
        check_redis(&server)?;
        let (needs_tls, names_roots) = (server.encrypts, server.roots.is_some());
        if !encrypts && (names_roots || needs_tls && !is_plain) {
            let remedy = "write `rediss:`, or add `sslmode=disable` if the network is trusted";
            return Err(out_of_range(format!(
                "`redis:` does not encrypt the connection; {remedy}"
            )));
        }
        let server = Server { encrypts, ..server };
        let store_url =
            Self::with(StoreAddress::Redis(server), None, Access::default(), &mut parameters)?;
        store_url.terms.lease_ms.map_or(Ok(()), check_lease)?;
        Ok(store_url)
    }

    fn parse_http(rest: &str, query: &str, encrypts: bool) -> Result<Self> {
        let scheme = if encrypts { "https" } else { "http" };
        let authority = Authority::parse(rest, scheme)?;
        let mut parameters = Parameters::parse(query, "a service", &HTTP_PARAMETERS)?;
        let port = if encrypts { HTTPS_PORT } else { HTTP_PORT };
        let Server { hosts, user, password, database, roots, connect_timeout, .. } =
            Server::from_authority(authority, port, &mut parameters)?;
        if database.is_some() || hosts.len() > 1 {
            return Err(out_of_range("the URL of a service has one host and no path"));
        }
        // A URL with a password after the token is rejected, because the token would then be treated as a user name, and
        // messages contain user names.
        let (Some(token), None) = (user, password) else {
            let remedy = format!("write `{scheme}://TOKEN@host`");
            return Err(out_of_range(format!("it has no token before its host; {remedy}")));
        };
        if !encrypts && (roots.is_some() || hosts.iter().any(|(host, _)| !is_local(host))) {
            return Err(out_of_range("`http:` is for this machine only; write `https:`"));
        }
        let password = Some(token);
        let server =
            Server { hosts, password, encrypts, roots, connect_timeout, ..Server::default() };
        Self::with(StoreAddress::Http(server), None, Access::default(), &mut parameters)
    }

    fn with(
        site: StoreAddress,
        schema: Option<Schema>,
        access: Access,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        if let Some(error) = site.platform().and_then(Platform::rejection) {
            return Err(error);
        }
        let namespace = parameters.remove("namespace");
        namespace.as_deref().map_or(Ok(()), check_name)?;
        let terms = LeaseParameters {
            lease_ms: parameters.milliseconds("lease_seconds")?,
            worker_ids: parameters
                .remove("worker_ids")
                .as_deref()
                .map(parse_worker_id_range)
                .transpose()?,
            wait_ms: parameters.milliseconds("wait")?,
            sigterm: parameters.flag("sigterm")?,
            renew_ms: parameters.milliseconds("renew_seconds")?,
            strict: parameters.flag("strict")?,
        };
        Ok(Self { site, namespace, schema, access, terms })
    }

    /// Returns the name of a parameter in this URL that is valid only in the URL of a lease, if there is one.
    #[cfg(feature = "std")]
    pub(crate) fn lease_parameter(&self) -> Option<&'static str> {
        let LeaseParameters { lease_ms, worker_ids, wait_ms, sigterm, renew_ms, strict } =
            &self.terms;
        let has = [
            self.namespace.is_some(),
            lease_ms.is_some(),
            worker_ids.is_some(),
            wait_ms.is_some(),
            sigterm.is_some(),
            renew_ms.is_some(),
            strict.is_some(),
        ];
        LEASE_PARAMETERS.into_iter().zip(has).find(|(_, has)| *has).map(|(name, _)| name)
    }
}

/// Rejects the address of a `Redis` server if different clients would interpret it differently.
fn check_redis(server: &Server) -> Result<()> {
    let is_database = |name: &String| digits::<u32>(name).is_some();
    if server.hosts.len() > 1 {
        return Err(out_of_range("a URL of Redis names one host"));
    }
    if server.database.as_ref().is_some_and(|name| !is_database(name)) {
        return Err(out_of_range("its database is not a number, as in `redis://host/0`"));
    }
    if server.user.is_some() && server.password.is_none() {
        // The apparent user name may actually be the password, and messages would then reveal it.
        let remedy = "write `redis://:PASSWORD@host` or `redis://USER:PASSWORD@host`";
        return Err(out_of_range(format!("it has a user without a password; {remedy}")));
    }
    Ok(())
}

/// The components of a server's URL before the `?`.
struct Authority<'u> {
    user: Option<&'u str>,
    hosts: Vec<(String, Option<u16>)>,
    database: &'u str,
}

impl<'u> Authority<'u> {
    fn parse(rest: &'u str, scheme: &str) -> Result<Self> {
        let rest = rest.strip_prefix("//").ok_or_else(|| {
            out_of_range(format!(
                "`//` is missing after the scheme, as in `{scheme}://user@host/database`"
            ))
        })?;
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        // The last `@` is the separator. If the first `@` were used instead, the part of a password after an unescaped `@`
        // would be parsed as part of the host.
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        let hosts = parse_hosts(hosts)?;
        // A `/` in a password would end the authority, and messages would reveal the rest of the password as the database
        // name.
        if database.contains(['@', '/']) {
            return Err(out_of_range(format!(
                "its database has a raw `@` or `/`; {ESCAPING_HINT}"
            )));
        }
        Ok(Self { user, hosts, database })
    }
}

/// Returns whether connections to the hosts must be encrypted, and the file with the root certificates.
fn encryption(
    hosts: &[(String, u16)],
    parameters: &mut Parameters,
) -> Result<(bool, Option<String>)> {
    let roots = parameters.remove("sslrootcert");
    let names_roots = roots.is_some();
    let roots = match roots.as_deref() {
        None | Some("system") => None,
        Some(path) if is_absolute(path) => Some(path.to_string()),
        Some(_) => {
            return Err(out_of_range("`sslrootcert` must be an absolute path or `system`"));
        }
    };
    let is_remote = hosts.iter().any(|(host, _)| !is_local(host));
    let is_socket = hosts.iter().all(|(host, _)| is_socket_directory(host));
    let encrypts = match parameters.remove("sslmode").as_deref() {
        // libpq would default to `prefer`, which falls back to plain text, so an attacker on the network could read the
        // password.
        None => is_remote || names_roots,
        Some("disable") if names_roots => {
            return Err(out_of_range("`sslrootcert` has no use beside `sslmode=disable`"));
        }
        Some("disable") => false,
        Some("require" | "verify-ca" | "verify-full") => true,
        Some("allow" | "prefer") => {
            let reason = "under this `sslmode` anyone on the network could have the connection in plain text; write `require` or `disable`";
            return Err(out_of_range(reason));
        }
        Some(_) => {
            return Err(out_of_range(
                "`sslmode` can only be `disable`, `require`, `verify-ca` or `verify-full`",
            ));
        }
    };
    // Data sent through a Unix socket stays on this machine. libpq also ignores `sslmode` for Unix sockets.
    Ok((encrypts && !is_socket, roots))
}

/// Returns whether the client must skip hosts that do not accept writes. As in libpq, the parameter also applies if there
/// is only one host.
fn requires_writable_host(hosts: &[(String, u16)], parameters: &mut Parameters) -> Result<bool> {
    match parameters.remove("target_session_attrs").as_deref() {
        None | Some("any") => Ok(hosts.len() > 1),
        Some("primary" | "read-write") => Ok(true),
        Some(_) => Err(out_of_range(
            "`target_session_attrs` can only be `read-write`, since a lease is written",
        )),
    }
}

impl Server {
    fn from_authority(
        authority: Authority<'_>,
        default_port: u16,
        parameters: &mut Parameters,
    ) -> Result<Self> {
        let Authority { user, hosts, database } = authority;
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            None => (None, None),
            Some((user, password)) => (decode_part(user)?, decode_part(password)?),
        };
        // As in libpq, a parameter takes precedence over the corresponding part of the URL.
        let user = parameters.remove("user").or(user);
        let password = parameters.remove("password").or(password);
        let database = parameters.remove("dbname").or(decode_part(database)?);
        let hosts = combine_hosts_and_ports(
            hosts,
            parameters.remove("host").as_deref(),
            parameters.remove("port").as_deref(),
            default_port,
        )?;
        if hosts.iter().any(|(host, _)| host.starts_with('@')) {
            let reason = "its host is an abstract socket, which not every client supports; name the folder of the server's Unix socket";
            return Err(out_of_range(reason));
        }
        let (encrypts, roots) = encryption(&hosts, parameters)?;
        let read_write = requires_writable_host(&hosts, parameters)?;
        Ok(Self {
            hosts,
            user,
            password,
            database,
            encrypts,
            roots,
            read_write,
            // As in libpq, 0 means that the URL sets no limit.
            connect_timeout: parameters.number("connect_timeout")?.filter(|seconds| *seconds > 0),
            application_name: parameters.remove("application_name"),
            options: parameters.remove("options"),
        })
    }

    /// Returns the first host and its port.
    #[cfg(any(feature = "http", feature = "redis"))]
    pub(crate) fn host(&self) -> (&str, u16) {
        self.hosts.first().map_or(("", 0), |(host, port)| (host, *port))
    }

    /// Writes the server's URL without a password.
    fn fmt_as(&self, scheme: &str, default_port: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{scheme}://")?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        for (k, (host, port)) in self.hosts.iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            write!(f, "{comma}{host}")?;
            if *port != default_port {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.database.as_deref().unwrap_or_default())
    }

    fn to_json(&self) -> Json {
        json!({
            "hosts": self.hosts,
            "user": self.user,
            "password": self.password,
            "database": self.database,
            "encrypts": self.encrypts,
            "roots": self.roots,
            "read_write": self.read_write,
            "connect_timeout": self.connect_timeout,
            "application_name": self.application_name.as_deref().unwrap_or("polyflake-lease"),
            "options": self.options,
        })
    }
}

impl StoreAddress {
    /// Returns the store as JSON for a host in another language.
    ///
    /// # Errors
    /// Returns `out_of_range` for an in-memory store, which only Rust supports.
    pub(crate) fn to_json(&self) -> Result<Json> {
        match self {
            Self::Memory(_) => Err(out_of_range(format!(
                "a store in memory is for tests in Rust; {SUPPORTED_SCHEMES_HINT}"
            ))),
            Self::File(path) => Ok(json!({ "store": "sqlite", "path": path })),
            Self::Server(server) => {
                Ok(json!({ "store": "postgresql", "server": server.to_json() }))
            }
            Self::Mysql(server) => Ok(json!({ "store": "mysql", "server": server.to_json() })),
            Self::Redis(server) => Ok(json!({ "store": "redis", "server": server.to_json() })),
            Self::Http(server) => Ok(json!({ "store": "http", "server": server.to_json() })),
        }
    }

    /// Returns the platform that the name of a host identifies.
    pub(crate) fn platform(&self) -> Option<&'static Platform> {
        let (scheme, server) = match self {
            Self::Memory(_) | Self::File(_) => return None,
            Self::Server(server) => ("postgres", server),
            Self::Mysql(server) => ("mysql", server),
            Self::Redis(server) => ("redis", server),
            Self::Http(server) => ("https", server),
        };
        server.hosts.iter().find_map(|(host, _)| platforms::from_host(scheme, host))
    }

    /// Returns whether the store is a file with a relative path. This code cannot tell which operating system will use the
    /// path, so it recognizes absolute paths of both Unix and Windows.
    pub(crate) fn is_relative(&self) -> bool {
        matches!(self, Self::File(path) if !is_absolute(path))
    }
}

/// Displays the name of the store, without a password.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(name) => write!(f, "memory:{name}"),
            Self::File(path) => write!(f, "sqlite:{path}"),
            Self::Server(server) => server.fmt_as("postgres", POSTGRESQL_PORT, f),
            Self::Mysql(server) => server.fmt_as("mysql", MYSQL_PORT, f),
            Self::Redis(server) => {
                let scheme = if server.encrypts { "rediss" } else { "redis" };
                server.fmt_as(scheme, REDIS_PORT, f)
            }
            Self::Http(server) if server.encrypts => server.fmt_as("https", HTTPS_PORT, f),
            Self::Http(server) => server.fmt_as("http", HTTP_PORT, f),
        }
    }
}

/// The parameters of a URL that have not been read yet.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Splits a URL's query into its parameters.
    ///
    /// # Errors
    /// Returns `out_of_range` for a parameter that is repeated, has no value, or is not supported by the database.
    fn parse(query: &str, database: &str, of_database: &[&str]) -> Result<Self> {
        let mut read: Vec<(String, String)> = Vec::new();
        for parameter in query.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let known = LEASE_PARAMETERS.iter().chain(of_database);
            if !known.clone().any(|known| *known == name) {
                return Err(unknown_parameter_error(name, database, known.copied()));
            }
            if read.iter().any(|(other, _)| other == name) {
                return Err(out_of_range(format!("it has the parameter `{name}` twice")));
            }
            match percent_decode(value) {
                Some(value) if !value.is_empty() => read.push((name.to_string(), value)),
                Some(_) => {
                    return Err(out_of_range(format!("its parameter `{name}` has no value")));
                }
                None => return Err(invalid_encoding_error(&format!("its parameter `{name}`"))),
            }
        }
        Ok(Self(read))
    }

    fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.swap_remove(at).1)
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>> {
        let wrong = || out_of_range(format!("`{name}` must be a number of seconds"));
        self.remove(name).map(|text| digits(&text).ok_or_else(wrong)).transpose()
    }

    /// Returns the value of a parameter that is `true` or `false`.
    fn flag(&mut self, name: &str) -> Result<Option<bool>> {
        match self.remove(name).as_deref() {
            None => Ok(None),
            Some("false") => Ok(Some(false)),
            Some("true") => Ok(Some(true)),
            Some(_) => Err(out_of_range(format!("`{name}` can only be `true` or `false`"))),
        }
    }

    /// Parses a parameter in seconds, with up to three decimal places, and returns its value converted to milliseconds.
    fn milliseconds(&mut self, name: &str) -> Result<Option<u64>> {
        let wrong =
            || out_of_range(format!("`{name}` must be a number of seconds, such as 30 or 0.5"));
        let Some(text) = self.remove(name) else { return Ok(None) };
        let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
        if part.is_empty() || part.len() > 3 {
            return Err(wrong());
        }
        let part: Option<u64> = digits(&format!("{part:0<3}"));
        let ms =
            digits::<u64>(whole).and_then(|seconds| seconds.checked_mul(1000)?.checked_add(part?));
        ms.filter(|ms| *ms <= MAX_SAFE_INTEGER).map(Some).ok_or_else(wrong)
    }
}

/// Returns the error for an unknown parameter, suggesting the known parameter with the most similar name.
fn unknown_parameter_error<'k>(
    name: &str,
    database: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Error {
    // An unknown parameter may be part of an unescaped password, so the error contains the name only if it is plausible.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 40 || !name.bytes().all(is_name) {
        return out_of_range("it has a parameter that is not a name");
    }
    let owner = [
        ("PostgreSQL", &POSTGRESQL_PARAMETERS[..]),
        ("SQLite", &FILE_PARAMETERS[..]),
        ("MySQL", &MYSQL_PARAMETERS[..]),
    ];
    if let Some((owner, _)) = owner.iter().find(|(_, names)| names.contains(&name)) {
        return out_of_range(format!("the parameter `{name}` is of {owner}, not of {database}"));
    }
    let near = known.clone().find(|known| known.starts_with(name) || name.starts_with(known));
    let remedy = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "known are {}",
            known.map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    out_of_range(format!("the parameter `{name}` is unknown: {remedy}"))
}

const SCHEMES: [&str; 12] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
    "valkey",
    "valkeys",
    "sqlite",
    "memory",
    "https",
    "http",
];

/// Returns the database named by a scheme, such as `postgresql` in `SQLAlchemy`'s `postgresql+psycopg`. Schemes are
/// case-insensitive.
fn base_scheme(scheme: &str) -> &str {
    let base = scheme.split_once('+').map_or(scheme, |(base, _)| base);
    SCHEMES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(base))
        .unwrap_or(if base.eq_ignore_ascii_case("sqlite3") { "sqlite" } else { scheme })
}

/// Returns whether a string looks like a URL scheme. If it does not, it may be part of a password.
fn is_scheme(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (2..20).contains(&text.len()) && text.bytes().all(is_part)
}

/// Parses the path after `sqlite:`. As in any URL, two slashes introduce a host name, which must be empty here. The path
/// follows the host name.
fn parse_path(text: &str) -> Result<String> {
    if text.contains(":memory:") {
        let reason = "a database in memory is lost with its process; name a file on a disk";
        return Err(Error::new(ErrorKind::StoreNotDurable, reason).permanent());
    }
    if text.starts_with("file:") {
        return Err(out_of_range("`file:` is not read; write the path alone after `sqlite:`"));
    }
    let path = match text.strip_prefix("//") {
        None => text.to_string(),
        Some(path) if path.starts_with('/') => {
            // SQLAlchemy uses four slashes for an absolute path. On Windows, a drive letter follows the third slash.
            let path = path.trim_start_matches('/');
            if is_absolute(path) { path.to_string() } else { format!("/{path}") }
        }
        Some(_) => {
            let reason = "two slashes begin the name of a host, which a file has none of; write an absolute path with one slash or three";
            return Err(out_of_range(reason));
        }
    };
    if path.trim_start_matches('/').is_empty() {
        return Err(out_of_range("it names no file; write a path after `sqlite:`"));
    }
    Ok(path)
}

/// Returns the hosts of an authority, each with its port.
fn parse_hosts(text: &str) -> Result<Vec<(String, Option<u16>)>> {
    let port = |text: &str| {
        let wrong =
            || out_of_range(format!("its port is not a number from 1 to 65535; {ESCAPING_HINT}"));
        digits(text).filter(|port| *port > 0).ok_or_else(wrong)
    };
    let host = |text: &str| {
        let (name, rest) = match text.strip_prefix('[') {
            Some(address) => {
                let wrong = || out_of_range("`]` is missing after the address of its host");
                address.split_once(']').ok_or_else(wrong)?
            }
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match rest.strip_prefix(':') {
            Some("") => None,
            Some(text) => Some(port(text)?),
            None if rest.is_empty() => None,
            None => return Err(out_of_range("a colon is missing before the port of its host")),
        };
        Ok((percent_decode(name).ok_or_else(|| invalid_encoding_error("its host"))?, port))
    };
    text.split(',').filter(|text| !text.is_empty()).map(host).collect()
}

/// Combines the hosts and ports of an authority with the parameters `host` and `port`, which take precedence as in libpq.
/// If the `host` parameter is set without `port`, the authority's ports apply to the hosts in the parameter. A single port
/// applies to all hosts.
fn combine_hosts_and_ports(
    authority: Vec<(String, Option<u16>)>,
    hosts: Option<&str>,
    ports: Option<&str>,
    default_port: u16,
) -> Result<Vec<(String, u16)>> {
    let wrong = || out_of_range("`port` must be a number from 1 to 65535, or one for each host");
    let (own_hosts, own_ports): (Vec<_>, Vec<_>) = authority.into_iter().unzip();
    let hosts = hosts.map_or(own_hosts, |list| list.split(',').map(ToString::to_string).collect());
    if hosts.is_empty() || hosts.iter().any(String::is_empty) {
        let reason =
            "it names no host; write `localhost`, or `?host=/var/run/postgresql` for a Unix socket";
        return Err(out_of_range(reason));
    }
    let ports = match ports {
        Some(list) => {
            let port = |text| digits(text).filter(|port| *port > 0).map(Some).ok_or_else(wrong);
            list.split(',').map(port).collect::<Result<_>>()?
        }
        None if own_ports.iter().all(Option::is_none) => Vec::new(),
        None => own_ports,
    };
    if ports.len() > 1 && ports.len() != hosts.len() {
        return Err(wrong());
    }
    let port =
        |at: usize| ports.get(at).or(ports.first()).copied().flatten().unwrap_or(default_port);
    Ok(hosts.into_iter().enumerate().map(|(at, host)| (host, port(at))).collect())
}

/// Returns the bounds of a range of worker IDs, such as `100-199`. A single number denotes a range of one worker ID.
fn parse_worker_id_range(text: &str) -> Result<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let pair = digits(first).zip(digits(last)).filter(|(first, last)| first <= last);
    pair.ok_or_else(|| {
        out_of_range("`worker_ids` must be a range of worker IDs, such as `100-199`")
    })
}

/// Parses a number that consists only of decimal digits.
pub(crate) fn digits<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Decodes a component of the URL. Returns `None` if the component is empty.
fn decode_part(text: &str) -> Result<Option<String>> {
    let text = percent_decode(text)
        .ok_or_else(|| invalid_encoding_error("its user, password or database"))?;
    Ok((!text.is_empty()).then_some(text))
}

fn invalid_encoding_error(what: &str) -> Error {
    out_of_range(format!("{what} has a `%` that two hexadecimal digits do not follow; write `%25`"))
}

/// Decodes the percent-encoded bytes of a string.
fn percent_decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        // The check is necessary because the integer parser would also accept a sign.
        let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Returns whether a host is a directory that contains Unix sockets.
fn is_socket_directory(host: &str) -> bool {
    host.starts_with('/')
}

/// Returns whether a connection to a host stays on this machine.
fn is_local(host: &str) -> bool {
    let is_loopback = host.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_socket_directory(host) || is_loopback || host.eq_ignore_ascii_case("localhost")
}

/// Returns whether a path is absolute on Unix or on Windows. On Windows, a path that begins with a drive letter but no
/// slash is relative.
fn is_absolute(path: &str) -> bool {
    let has_drive = match path.as_bytes() {
        [drive, b':', slash, ..] => drive.is_ascii_alphabetic() && matches!(slash, b'/' | b'\\'),
        _ => false,
    };
    has_drive || path.starts_with('/') || path.starts_with("\\\\")
}
