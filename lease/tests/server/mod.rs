//! Starts `PostgreSQL` servers for tests. Each server has its own folder, which also contains its socket.

#[allow(clippy::duplicate_mod, reason = "tests use several servers")]
#[path = "../required/mod.rs"]
pub mod required;

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use tempfile::TempDir;

use required::find_or_skip;

/// A running server. Dropping it stops the server and deletes its data.
pub struct Server {
    folder: TempDir,
    programs: PathBuf,
    user: Option<u32>,
}

/// Returns the folder with the server's programs, which Debian does not add to `PATH`. Panics if the folder is missing and
/// tests must not be skipped.
pub fn programs() -> Option<PathBuf> {
    let found = fs::read_dir("/usr/lib/postgresql").ok().and_then(|versions| {
        let mut folders: Vec<_> = versions.flatten().map(|it| it.path().join("bin")).collect();
        folders.sort();
        folders.pop().filter(|folder| folder.join("initdb").exists())
    });
    find_or_skip("PostgreSQL", found)
}

/// If the test runs as root, returns the ID of the unprivileged user that runs the server, because `PostgreSQL` refuses to
/// run as root. Otherwise, returns `None`.
pub fn server_user_id() -> Option<u32> {
    let line = |name: &str| {
        let users = fs::read_to_string("/etc/passwd").unwrap();
        let prefix = format!("{name}:");
        let line = users.lines().find(|line| line.starts_with(&prefix))?.to_owned();
        line.split(':').nth(2)?.parse().ok()
    };
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
    is_root.then(|| line("postgres").or_else(|| line("nobody")).unwrap())
}

impl Server {
    /// Starts an empty server.
    pub fn start(programs: &Path) -> Self {
        let server = Self::new(programs);
        let data = server.data_folder();
        server.run(
            "initdb",
            &["--auth=trust", "--username=lease", "--pgdata", data.to_str().unwrap()],
        );
        server.launch();
        server
    }

    /// Starts a replica, and waits until it streams from this server. Without the wait, the replica could miss writes that
    /// the server acknowledges before it stops.
    pub fn start_replica(&self) -> Self {
        let replica = Self::new(&self.programs);
        let (from, data) = (self.folder.path().to_str().unwrap().to_owned(), replica.data_folder());
        let options =
            ["--host", &from, "--username=lease", "--write-recovery-conf", "--checkpoint=fast"];
        replica
            .run("pg_basebackup", &[&options[..], &["--pgdata", data.to_str().unwrap()]].concat());
        replica.launch();
        self.wait_until("EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')");
        replica
    }

    /// Creates a base backup of this server, and returns a server that uses the backup.
    pub fn create_base_backup(&self) -> Self {
        let backup = Self::new(&self.programs);
        let (from, data) = (self.folder.path().to_str().unwrap().to_owned(), backup.data_folder());
        let options = ["--host", &from, "--username=lease", "--checkpoint=fast", "--pgdata"];
        backup.run("pg_basebackup", &[&options[..], &[data.to_str().unwrap()]].concat());
        backup
    }

    /// Starts a server from a base backup, following the `PostgreSQL` documentation. The server recovers as much data as
    /// possible, and continues on a new timeline.
    pub fn recover_from_base_backup(&self) {
        fs::write(self.data_folder().join("recovery.signal"), "").unwrap();
        chown(self.data_folder().join("recovery.signal"), self.user, None).unwrap();
        // The server has no WAL archive, so the restore command always fails.
        self.start_with_options("-c listen_addresses='' -c restore_command=false");
        self.wait_until("NOT pg_is_in_recovery()");
    }

    /// Waits until the server reports that a condition is true.
    #[track_caller]
    fn wait_until(&self, condition: &str) {
        let mut client = postgres::Client::connect(&self.url(), postgres::NoTls).unwrap();
        for _ in 0..1000 {
            let row = client.query_one(&format!("SELECT {condition}"), &[]).unwrap();
            if row.get(0) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("expected that {condition}");
    }

    /// Dumps the database to a file in the server's folder, as a script that replaces existing tables.
    pub fn dump(&self) -> PathBuf {
        let (url, dump) = (self.url(), self.folder.path().join("dump.sql"));
        let options = ["--clean", "--if-exists", "--dbname", &url, "--file"];
        self.run("pg_dump", &[&options[..], &[dump.to_str().unwrap()]].concat());
        dump
    }

    /// Loads a dump into the server.
    pub fn restore(&self, dump: &Path) {
        let url = self.url();
        let options =
            ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname", &url, "--file"];
        self.run("psql", &[&options[..], &[dump.to_str().unwrap()]].concat());
    }

    fn new(programs: &Path) -> Self {
        let (folder, user) = (tempfile::tempdir().unwrap(), server_user_id());
        chown(folder.path(), user, None).unwrap();
        Self { folder, programs: programs.into(), user }
    }

    /// Returns the folder with the server's data, its socket and its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgresql://lease@{folder}/postgres")
    }

    /// Returns the path of the socket on which the server listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(".s.PGSQL.5432")
    }

    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str]) {
        assert!(
            self.run_for_status(program, arguments, Stdio::inherit()).success(),
            "{program} {arguments:?}"
        );
    }

    fn run_for_status(&self, program: &str, arguments: &[&str], errors: Stdio) -> ExitStatus {
        let mut command = Command::new(self.programs.join(program));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(errors);
        if let Some(user) = self.user {
            command.uid(user);
        }
        command.status().unwrap()
    }

    #[track_caller]
    fn run_pg_ctl(&self, arguments: &[&str]) {
        assert!(self.try_pg_ctl(arguments), "pg_ctl {arguments:?}");
    }

    fn try_pg_ctl(&self, arguments: &[&str]) -> bool {
        let data = self.data_folder();
        let always = ["--pgdata", data.to_str().unwrap(), "--wait", "--silent"];
        let all = [&always[..], arguments].concat();
        self.run_for_status("pg_ctl", &all, Stdio::null()).success()
    }

    /// Starts the server. After [`Server::kill`], the old processes may need a moment to exit.
    pub fn launch(&self) {
        self.start_with_options("-c listen_addresses=''");
    }

    /// Starts the server with additional options.
    pub fn start_with_options(&self, more: &str) {
        let folder = self.folder.path().to_str().unwrap();
        let options = format!("-k {folder} {more} -c shared_buffers=16MB");
        let log = format!("{folder}/log");
        for _ in 0..20 {
            if self.try_pg_ctl(&["--log", &log, "--options", &options, "start"]) {
                return;
            }
            thread::sleep(Duration::from_millis(250));
        }
        panic!("expected a server: {}", fs::read_to_string(log).unwrap_or_default());
    }

    /// Kills the server's main process (the postmaster). The other processes detect this and exit.
    pub fn kill(&self) {
        kill_process(self.first_process().unwrap(), Signal::KILL).unwrap();
    }

    /// Stops all processes of the server. Connections stay open, but the server does not respond.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes the server after [`Server::freeze`].
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Returns the ID of the server's main process (the postmaster), or `None` if the server has no PID file.
    fn first_process(&self) -> Option<Pid> {
        let file = fs::read_to_string(self.data_folder().join("postmaster.pid")).ok()?;
        Pid::from_raw(file.lines().next()?.trim().parse().ok()?)
    }

    /// Sends a signal to the first process, which is the parent of all others, and then to the other processes.
    fn signal(&self, signal: Signal) {
        let Some(first) = self.first_process() else { return };
        match kill_process(first, signal) {
            // A killed server leaves its PID file behind, but there is no process to resume.
            Err(rustix::io::Errno::SRCH) if signal == Signal::CONT => return,
            sent => sent.unwrap(),
        }
        let first = first.as_raw_nonzero().to_string();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            // The line contains the process ID, the name in parentheses, the state, and the parent's process ID.
            let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(2));
            let pid =
                stat.split(' ').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| parent == Some(first.as_str())) {
                // The process may have ended in the meantime.
                let _ = kill_process(pid, signal);
            }
        }
    }

    /// Stops the server abruptly, as a power failure would.
    pub fn power_off(&self) {
        self.run_pg_ctl(&["--mode=immediate", "stop"]);
    }

    /// Shuts the server down cleanly, after its replicas have received its entire log.
    pub fn stop(&self) {
        self.run_pg_ctl(&["--mode=fast", "stop"]);
    }

    /// Makes commits wait for this server's replica.
    pub fn replicate_synchronously(&self) {
        self.execute_as_admin(&[
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
            "SELECT pg_reload_conf()",
        ]);
        self.wait_until("EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')");
    }

    /// Runs `work` while commits wait for a replica that does not exist.
    pub fn with_absent_replica(&self, work: impl FnOnce()) {
        let set = |names: &str| {
            let names = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
            self.execute_as_admin(&[&names, "SELECT pg_reload_conf()"]);
            self.wait_until("pg_sleep(0.5) IS NOT NULL");
        };
        set("absent");
        work();
        set("");
    }

    /// Runs `work`. While it runs, cancels one commit's wait for the replica.
    pub fn cancel_commit_during<V: Send>(&self, work: impl FnOnce() -> V + Send) -> V {
        thread::scope(|scope| {
            let working = scope.spawn(work);
            self.wait_until(
                "coalesce((SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'), false)",
            );
            working.join().unwrap()
        })
    }

    pub fn promote(&self) {
        self.run_pg_ctl(&["promote"]);
    }

    /// Runs statements without the driver.
    #[track_caller]
    pub fn execute_as_admin(&self, statements: &[&str]) {
        let mut client = postgres::Client::connect(&self.url(), postgres::NoTls).unwrap();
        for statement in statements {
            client.batch_execute(statement).unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test may have left the server frozen.
        self.thaw();
        // This fails if the server has already stopped.
        self.try_pg_ctl(&["--mode=immediate", "stop"]);
    }
}
