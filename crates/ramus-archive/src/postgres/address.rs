//! Where a server is and how to log in: the URL, and what `psql` would take from the environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a connection is silent before the other end is asked whether it is there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
/// How long something that was sent may stay unacknowledged.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// How much of the server's certificate is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disabled,
    /// Encrypted if the server can do it; its certificate is not checked.
    Preferred,
    /// Encrypted; the certificate is not checked.
    Required,
    /// Encrypted; the certificate must be valid for the host's name.
    Verified,
}

/// A server, ready to be connected to. Its password is never shown.
#[derive(Clone)]
pub(super) struct ServerAddress {
    pub(super) config: Config,
    pub(super) tls: TlsMode,
    /// Certificates to trust instead of the system's.
    pub(super) root_cert: Option<PathBuf>,
    /// What the server is called in messages.
    pub(super) name: String,
}

/// Reads an environment variable; one that is empty counts as not set.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl ServerAddress {
    /// Reads a URL such as `postgres://alice@db.example.com/ramus?sslmode=require`. The error says what is wrong
    /// without repeating the URL, which may hold a password.
    pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Self, String> {
        let ParsedUrl { mut config, ssl_mode, root_cert, has_keepalive } = ParsedUrl::parse(url)?;
        fill_in(&mut config, environment)?;
        let is_local = config.get_hosts().iter().all(is_local_host);
        let ssl_mode = ssl_mode.or_else(|| environment("PGSSLMODE"));
        let root_cert = match root_cert {
            Some(text) => Some(decode_option(&text)?),
            None => environment("PGSSLROOTCERT"),
        };
        let tls = match tls_mode(ssl_mode.as_deref(), is_local)? {
            // Certificates that are named are checked, as psql does.
            TlsMode::Required if root_cert.is_some() => TlsMode::Verified,
            mode => mode,
        };
        config.ssl_mode(match tls {
            TlsMode::Disabled => SslMode::Disable,
            TlsMode::Preferred => SslMode::Prefer,
            TlsMode::Required | TlsMode::Verified => SslMode::Require,
        });
        config.application_name("ramus");
        // A connection whose other end is gone must be noticed in minutes, not hours.
        if !has_keepalive {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SEND_TIMEOUT);
        }
        let root_cert = root_cert.filter(|file| file != "system").map(PathBuf::from);
        let name = server_name(&config);
        Ok(Self { config, tls, root_cert, name })
    }
}

/// The parts of a URL.
struct ParsedUrl {
    config: Config,
    ssl_mode: Option<String>,
    root_cert: Option<String>,
    has_keepalive: bool,
}

impl ParsedUrl {
    fn parse(url: &str) -> Result<Self, String> {
        let (base, options) = url.split_once('?').unwrap_or((url, ""));
        let (mut kept, mut ssl_mode, mut root_cert) = (Vec::new(), None, None);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", mode)) => ssl_mode = Some(mode.to_owned()),
                Some(("sslrootcert", path)) => root_cert = Some(path.to_owned()),
                _ => kept.push(option),
            }
        }
        let text = match kept.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", kept.join("&")),
        };
        let config = Config::from_str(&text).map_err(|error| error_text(&error))?;
        let has_keepalive = kept.iter().any(|option| option.starts_with("keepalives_idle="));
        Ok(Self { config, ssl_mode, root_cert, has_keepalive })
    }
}

/// Decodes the value of an option as the URL's own options are decoded.
fn decode_option(text: &str) -> Result<String, String> {
    let config = Config::from_str(&format!("postgres://?application_name={text}"));
    let config = config.map_err(|error| error_text(&error))?;
    Ok(config.get_application_name().unwrap_or_default().to_owned())
}

/// Whether a URL contains a password; the error describes an invalid URL.
pub(crate) fn has_password(url: &str) -> Result<bool, String> {
    Ok(ParsedUrl::parse(url)?.config.get_password().is_some())
}

/// Returns an error with its causes, which is where the reason usually is.
fn error_text(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn tls_mode(ssl_mode: Option<&str>, is_local: bool) -> Result<TlsMode, String> {
    match ssl_mode {
        None if is_local => Ok(TlsMode::Preferred),
        None | Some("verify-full" | "verify-ca") => Ok(TlsMode::Verified),
        Some("disable") => Ok(TlsMode::Disabled),
        Some("allow" | "prefer") => Ok(TlsMode::Preferred),
        Some("require") => Ok(TlsMode::Required),
        Some(other) => Err(format!(
            "unknown sslmode {other:?}; use disable, prefer, require, verify-ca or verify-full"
        )),
    }
}

/// Whether a host is this machine.
fn is_local_host(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Fills in what the URL leaves open, from the variables and the password file that `psql` uses.
fn fill_in(config: &mut Config, environment: Environment<'_>) -> Result<(), String> {
    if config.get_hosts().is_empty() {
        config.host(environment("PGHOST").as_deref().unwrap_or("localhost"));
    }
    if config.get_ports().is_empty()
        && let Some(port) = environment("PGPORT")
    {
        let port = port.parse().map_err(|_| format!("PGPORT is not a port: {port:?}"))?;
        config.port(port);
    }
    if config.get_user().is_none() {
        let user = ["PGUSER", "USER", "USERNAME"].into_iter().find_map(environment);
        config.user(user.ok_or("the URL names no user, and PGUSER is not set")?);
    }
    let user = config.get_user().unwrap_or_default().to_owned();
    if config.get_dbname().is_none() {
        config.dbname(environment("PGDATABASE").unwrap_or_else(|| user.clone()));
    }
    if config.get_password().is_none() {
        if let Some(password) = environment("PGPASSWORD") {
            config.password(password);
        } else if let Some(password) = stored_password(config, environment) {
            config.password(password);
        }
    }
    Ok(())
}

/// Looks a password up in `PGPASSFILE` or `~/.pgpass`. As with `psql`, a file that others can read does not count.
fn stored_password(config: &Config, environment: Environment<'_>) -> Option<String> {
    let usual = || Some(Path::new(&environment("HOME")?).join(".pgpass"));
    let path = environment("PGPASSFILE").map(PathBuf::from).or_else(usual)?;
    if !is_private(&path) {
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [&host, &port, config.get_dbname()?, config.get_user()?];
    let text = fs::read_to_string(&path).ok()?;
    text.lines().find_map(|line| password_in_line(line, wanted))
}

#[cfg(unix)]
fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(path: &Path) -> bool {
    path.is_file()
}

/// Returns the password of a line `host:port:database:user:password` if it is about these four; `*` means any.
fn password_in_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            // A backslash takes the next character as it is.
            '\\' => fields[last].extend(letters.next()),
            ':' if last < 4 => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    let is_match = fields.len() == 5
        && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    is_match.then(|| fields.swap_remove(4))
}

fn server_name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().filter(|port| **port != 5432);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let (user, database) = (config.get_user(), config.get_dbname());
    format!("postgres://{}@{host}{port}/{}", user.unwrap_or_default(), database.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Result<ServerAddress, String> {
        ServerAddress::parse(url, &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn certificates_are_verified_unless_the_server_is_this_machine() {
        for (url, mode) in [
            ("postgres://a@db.example.com/r", TlsMode::Verified),
            ("postgres://a@10.0.0.5/r", TlsMode::Verified),
            ("postgres://a@localhost/r", TlsMode::Preferred),
            ("postgres://a@127.0.0.1:5433/r", TlsMode::Preferred),
            ("postgres://a@%2Frun%2Fpostgresql/r", TlsMode::Preferred),
            ("postgres://a@db/r?sslmode=require", TlsMode::Required),
            ("postgres://a@localhost/r?connect_timeout=3&sslmode=verify-full", TlsMode::Verified),
            ("postgres://a@db/r?sslmode=disable", TlsMode::Disabled),
        ] {
            assert_eq!(parsed(url, &[]).unwrap().tls, mode, "{url}");
        }
        assert!(parsed("postgres://a@db/r?sslmode=maybe", &[]).is_err());
    }

    #[test]
    fn certificates_that_are_named_are_checked() {
        let url = "postgres://a@db/r?sslmode=require&sslrootcert=%2Fmy%20certs%2Fca.pem";
        let address = parsed(url, &[]).unwrap();
        assert_eq!(address.tls, TlsMode::Verified);
        assert_eq!(address.root_cert.as_deref(), Some(Path::new("/my certs/ca.pem")));
        let named = [("PGSSLROOTCERT", "/ca%20.pem")];
        let address = parsed("postgres://a@db/r?sslmode=require", &named).unwrap();
        assert_eq!(address.tls, TlsMode::Verified);
        assert_eq!(address.root_cert.as_deref(), Some(Path::new("/ca%20.pem")));
        let address = parsed("postgres://a@db/r?sslmode=require&sslrootcert=system", &[]).unwrap();
        assert_eq!((address.tls, address.root_cert), (TlsMode::Verified, None));
    }

    #[test]
    fn the_environment_fills_in_and_the_name_holds_no_password() {
        let variables =
            [("PGHOST", "db"), ("PGPORT", "6000"), ("PGUSER", "bob"), ("PGPASSWORD", "s3")];
        let address = parsed("postgres://", &variables).unwrap();
        assert_eq!(address.name, "postgres://bob@db:6000/bob");
        assert_eq!(address.config.get_password(), Some(&b"s3"[..]));
        let address = parsed("postgres://eve:hunter2@db/ramus", &variables).unwrap();
        assert_eq!(address.name, "postgres://eve@db/ramus");
        let Err(error) = parsed("postgres://eve:hunter2@db:port/ramus", &[]) else { panic!() };
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_password_is_found_wherever_the_url_holds_it() {
        for (url, has) in [
            ("postgres://eve:hunter2@db/ramus?sslmode=verify-full", true),
            ("postgresql://eve@db/ramus?password=hunter2", true),
            ("postgres://eve@db/ramus?sslmode=verify-full", false),
            ("postgres://", false),
        ] {
            assert_eq!(has_password(url), Ok(has), "{url}");
        }
        assert!(has_password("postgres://eve:hunter2@db:port/ramus").is_err());
    }

    #[test]
    fn lines_of_the_password_file() {
        let wanted = ["db", "5432", "ramus", "alice"];
        for (line, password) in [
            ("db:5432:ramus:alice:secret", Some("secret")),
            ("*:*:*:alice:a:b\\:c\\\\d", Some("a:b:c\\d")),
            ("db:5433:ramus:alice:secret", None),
            ("# db:5432:ramus:alice:secret", None),
            ("db:5432:ramus", None),
            ("", None),
        ] {
            assert_eq!(password_in_line(line, wanted).as_deref(), password, "{line}");
        }
    }
}
