//! Starts `MariaDB` or `MySQL` servers for tests. Each server has its own folder, which also contains its socket.

#[allow(clippy::duplicate_mod, reason = "tests use several servers")]
#[path = "../required/mod.rs"]
mod required;

use std::{
    env, fs,
    io::Write,
    net::TcpListener,
    os::unix::{fs::chown, net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use mysql_async::{Conn, OptsBuilder, Row, prelude::Queryable};
use required::find_or_skip;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A running server. Dropping it stops the server and deletes its data. The server has no accounts unless it was started
/// with them.
pub struct MysqlServer {
    folder: TempDir,
    program: PathBuf,
    options: Vec<String>,
    process: Option<Child>,
}

/// The environment variable for the path of a `MySQL` server program, which the tests then use instead of `MariaDB`. The
/// program's folder must also contain the client programs.
const PROGRAM_VARIABLE: &str = "POLYFLAKE_MYSQL_SERVER";

/// Returns the path of the server program. If it is not installed, returns `None`, or panics if tests must not be skipped.
pub fn program() -> Option<PathBuf> {
    if let Some(program) = env::var_os(PROGRAM_VARIABLE) {
        return Some(program.into());
    }
    let found = ["/usr/sbin/mariadbd", "/usr/local/sbin/mariadbd"].map(PathBuf::from);
    let found = found.into_iter().find(|path| path.exists());
    find_or_skip("MariaDB", found)
}

impl MysqlServer {
    /// Starts a server with one empty database and without accounts.
    pub fn start(program: &Path, options: &[&str]) -> Self {
        Self::start_with(program, &[&["--skip-grant-tables"], options].concat(), false)
    }

    /// Starts an empty server with accounts. The root account has no password.
    pub fn start_with_accounts(program: &Path, options: &[&str]) -> Self {
        Self::start_with(program, options, true)
    }

    /// Starts an empty server on which every setting that affects SQL statements differs from its default.
    pub fn start_with_unusual_defaults(program: &Path) -> Self {
        let (mode, read_only) = if is_mariadb(program) {
            ("ORACLE,EMPTY_STRING_IS_NULL", "tx_read_only")
        } else {
            ("ANSI,HIGH_NOT_PRECEDENCE", "transaction_read_only")
        };
        let server = Self::start(
            program,
            &[
                &format!("--sql-mode={mode},NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES"),
                "--transaction-isolation=SERIALIZABLE",
                "--completion-type=CHAIN",
                "--default-time-zone=-03:00",
                "--character-set-server=latin1",
                "--collation-server=latin1_german1_ci",
                "--default-storage-engine=MyISAM",
                "--autocommit=0",
            ],
        );
        // With this setting, the server would reject the statement that creates the database.
        server.execute_as_root(&[&format!("SET GLOBAL {read_only} = 1")]);
        server
    }

    /// Starts an empty server that also listens on a local port, and accepts the user `lease` with the password `sesame`.
    /// Returns the server and the port.
    pub fn start_on_port(program: &Path, options: &[&str]) -> (Self, u16) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = format!("--port={port}");
        let listens = ["--skip-skip-networking", "--bind-address=127.0.0.1", &at];
        let options = [&listens, options].concat();
        if is_mariadb(program) {
            return (Self::start(program, &options), port);
        }
        // MySQL does not listen on a port if it has no accounts.
        let server = Self::start_with_accounts(program, &options);
        server.execute_as_root(&[
            "CREATE USER lease IDENTIFIED BY 'sesame'",
            "GRANT ALL ON *.* TO lease",
        ]);
        (server, port)
    }

    /// Starts an empty server that uses the certificate in `folder` for TLS.
    pub fn start_with_tls(program: &Path, folder: &Path) -> (Self, u16) {
        let of = |option: &str, file: &str| format!("--{option}={}", folder.join(file).display());
        let options = [of("ssl-cert", "server.crt"), of("ssl-key", "server.key")];
        Self::start_on_port(program, &options.each_ref().map(String::as_str))
    }

    fn start_with(program: &Path, options: &[&str], has_accounts: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let options = options.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut server = Self { folder, program: program.into(), options, process: None };
        server.initialize(has_accounts);
        server.launch();
        server.execute_as_root(&["CREATE DATABASE app"]);
        server
    }

    /// Creates the files that the server needs before its first start.
    fn initialize(&self, has_accounts: bool) {
        let data = format!("--datadir={}", self.data_folder().display());
        let mut command = if self.is_mariadb() {
            let mut command = Command::new("mariadb-install-db");
            command.args(["--no-defaults", "--user=root", "--skip-test-db"]);
            command.arg("--auth-root-authentication-method=normal");
            command
        } else {
            let mut command = Command::new(&self.program);
            command.args(["--no-defaults", "--initialize-insecure"]).args(self.product_options());
            command
        };
        // Without accounts, MariaDB creates its files at its first start.
        if has_accounts || !self.is_mariadb() {
            let initialized = command.arg(data).env("TMPDIR", self.folder()).output().unwrap();
            assert!(initialized.status.success(), "{initialized:?}");
        }
        if self.is_mariadb() {
            let user = super::server::server_user_id();
            paths_in(self.folder()).iter().for_each(|path| chown(path, user, None).unwrap());
        }
    }

    /// Starts a server with a copy of this server's data, but with a different identity. This server is stopped while its
    /// files are copied.
    pub fn copy(&self, server_id: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let copied = Command::new("cp")
            .arg("-a")
            .args([&self.data_folder(), &folder.path().join("data")])
            .status();
        assert!(copied.unwrap().success());
        chown(folder.path(), super::server::server_user_id(), None).unwrap();
        // MySQL assigns a new `server_uuid` if this file is missing.
        let _ = fs::remove_file(folder.path().join("data/auto.cnf"));
        let options = [&self.options[..], &[format!("--server-id={server_id}")]].concat();
        let mut copy = Self { folder, program: self.program.clone(), options, process: None };
        copy.launch();
        copy
    }

    /// Starts the stopped server with additional options.
    pub fn launch_with(&mut self, options: &[&str]) {
        self.options.extend(options.iter().map(ToString::to_string));
        self.launch();
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn url(&self) -> String {
        format!("mysql://root@/app?host={}", self.socket().display())
    }

    pub fn is_mariadb(&self) -> bool {
        is_mariadb(&self.program)
    }

    /// Returns the options that exist only in `MariaDB` or only in `MySQL`. If the test runs as root, the options also
    /// specify the user that runs the server. For `MySQL`, this user is root, because other users may not be permitted to
    /// read the folder into which `MySQL` was unpacked.
    fn product_options(&self) -> Vec<String> {
        let user = super::server::server_user_id();
        if self.is_mariadb() {
            let user = user.map(|user| format!("--user={user}"));
            return user.into_iter().chain(["--innodb-log-file-size=4M".into()]).collect();
        }
        let user = user.map(|_| "--user=root".into());
        let options = [
            "--innodb-redo-log-capacity=16M",
            "--auto-generate-certs=OFF",
            "--mysqlx=OFF",
            "--secure-file-priv=NULL",
        ];
        user.into_iter().chain(options.map(String::from)).collect()
    }

    /// Starts the server process, and waits until it accepts connections.
    pub fn launch(&mut self) {
        let of = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
        let log = self.folder.path().join("log");
        let mut command = Command::new(&self.program);
        command.args(["--no-defaults", "--skip-networking", "--innodb-buffer-pool-size=8M"]);
        command.args(self.product_options());
        command.args([of("datadir", self.data_folder()), of("socket", self.socket())]);
        command
            .args([of("pid-file", self.folder.path().join("pid")), of("log-error", log.clone())]);
        // When a server starts, it deletes the temporary tables of all servers that use the same folder for temporary
        // files.
        command.env("TMPDIR", self.folder());
        let child = command.args(&self.options).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.process = Some(child.unwrap());
        for _ in 0..1200 {
            if UnixStream::connect(self.socket()).is_ok() {
                return;
            }
            let ended = self.process.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none(), "{}", fs::read_to_string(&log).unwrap_or_default());
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{}", fs::read_to_string(&log).unwrap_or_default());
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Shuts the server down cleanly.
    pub fn stop(&mut self) {
        self.execute_as_root(&["SHUTDOWN"]);
        self.process.take().unwrap().wait().unwrap();
    }

    /// Returns a dump of the database, created with the given options.
    pub fn dump(&self, options: &[&str]) -> Vec<u8> {
        let dumped = self.client("-dump").args(options).arg("app").output().unwrap();
        assert!(dumped.status.success(), "{dumped:?}");
        dumped.stdout
    }

    /// Restores a dump into the database.
    pub fn restore(&self, dump: &[u8]) {
        run_script(self.client("").arg("app"), dump);
    }

    /// Returns the statements of the binary log `log` of a `MariaDB` server.
    pub fn read_binary_log(&self) -> Vec<u8> {
        let read = self.client("-binlog").arg(self.data_folder().join("log.000001")).output();
        let read = read.unwrap();
        assert!(read.status.success(), "{read:?}");
        read.stdout
    }

    /// Executes the statements of a binary log.
    pub fn replay(&self, log: &[u8]) {
        run_script(&mut self.client(""), log);
    }

    /// Returns a command that runs the database client, or a related program such as the one that dumps a database.
    fn client(&self, suffix: &str) -> Command {
        let program = if self.is_mariadb() {
            PathBuf::from(format!("mariadb{suffix}"))
        } else {
            self.program.with_file_name(format!("mysql{}", suffix.trim_start_matches('-')))
        };
        let mut command = Command::new(program);
        command.arg("--no-defaults").arg("--user=root");
        command.arg(format!("--socket={}", self.socket().display()));
        command
    }

    /// Runs statements as root, bypassing the store under test.
    #[track_caller]
    pub fn execute_as_root(&self, statements: &[&str]) -> Vec<Row> {
        self.execute_as_user("root", statements).unwrap()
    }

    /// Runs statements as a user, and returns the rows of the last statement.
    pub fn execute_as_user(
        &self,
        user: &str,
        statements: &[&str],
    ) -> mysql_async::Result<Vec<Row>> {
        let runtime = runtime();
        runtime.block_on(async {
            let mut connection = Conn::new(self.user_options(user)).await?;
            let mut rows = Vec::new();
            for statement in statements {
                if *statement != "CREATE DATABASE app" {
                    connection.query_drop("USE app").await?;
                }
                rows = connection.query(*statement).await?;
            }
            // The server does not reply if the statements shut it down.
            let _ = connection.disconnect().await;
            Ok(rows)
        })
    }
}

impl MysqlServer {
    fn user_options(&self, user: &str) -> OptsBuilder {
        let options = OptsBuilder::default().user(Some(user)).prefer_socket(false);
        options.socket(Some(self.socket().display().to_string()))
    }

    /// Opens a connection to the database. Returns the connection and the runtime that drives it.
    pub fn connect(&self) -> (Runtime, Conn) {
        let runtime = runtime();
        let options = self.user_options("root").db_name(Some("app"));
        let connection = runtime.block_on(Conn::new(options)).unwrap();
        (runtime, connection)
    }
}

fn run_script(client: &mut Command, script: &[u8]) {
    let mut client = client.stdin(Stdio::piped()).spawn().unwrap();
    client.stdin.take().unwrap().write_all(script).unwrap();
    assert!(client.wait().unwrap().success());
}

pub fn is_mariadb(program: &Path) -> bool {
    program.ends_with("mariadbd")
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

impl Drop for MysqlServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the paths of a folder and all files in it.
fn paths_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.is_symlink() {
            found.extend(paths_in(&entry));
        } else {
            found.push(entry);
        }
    }
    found
}
