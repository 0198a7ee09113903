use pelwatch::testing::{TestServer, newest_from, relay::Relay, wait_until};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType, date_time_ymd};
use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, UnixStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        server::WebPkiClientVerifier,
    },
};

/// Certificates of a test: an issuer, and what it issued.
struct Certificates {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    /// Issues a certificate for a host, from one year to another.
    fn issue(&self, host: &str, (from, to): (i32, i32)) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        let name =
            host.parse::<IpAddr>().map_or_else(|_| SanType::DnsName(host.try_into().unwrap()), SanType::IpAddress);
        params.subject_alt_names = vec![name];
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (cert_path, key_path) = (self.path(&format!("{host}-{to}.pem")), self.path(&format!("{host}-{to}.key")));
        fs::write(&cert_path, certificate.pem()).unwrap();
        fs::write(&key_path, key.serialize_pem()).unwrap();
        (cert_path, key_path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap()).unwrap();
        roots
    }
}

const NOW: (i32, i32) = (2020, 2099);

/// A TLS port that leads to a server's socket. With `wants_client` it lets in only who has a certificate of the same issuer.
fn tls_port(all: &Certificates, (cert, key): &(PathBuf, PathBuf), socket: &Path, wants_client: bool) -> u16 {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let builder = if wants_client {
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(all.roots()), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_file(cert).unwrap()];
    let config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (port, socket) = (listener.local_addr().unwrap().port(), socket.to_owned());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, socket) = (acceptor.clone(), socket.clone());
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let Ok(mut server) = UnixStream::connect(&socket).await else { return };
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
    });
    port
}

/// A server with one group.
fn seeded() -> Option<TestServer> {
    let server = TestServer::start(&newest_from((6, 0, 0))?);
    for line in
        ["XADD orders 1-0 n 1", "XGROUP CREATE orders workers 0", "XREADGROUP GROUP workers w1 STREAMS orders >"]
    {
        server.run(line);
    }
    Some(server)
}

/// Runs pelwatch with its own home, and returns the exit code, and what it said.
pub fn run(home: &Path, env: &[(&str, &Path)], words: &[&str]) -> (i32, String) {
    let mut command = pelwatch::testing::command(env!("CARGO_BIN_EXE_pelwatch"), home);
    let output = command.envs(env.iter().copied()).args(words).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn with_tls_everything_works_and_each_fault_is_a_sentence() {
    let Some(server) = seeded() else { return };
    let all = Certificates::new();
    let (home, ca) = (all.folder.path().to_owned(), all.path("ca.pem"));
    let ca = ca.to_str().unwrap();
    let port =
        |certificate: &(PathBuf, PathBuf), wants| tls_port(&all, certificate, &server.socket(), wants).to_string();
    let good = port(&all.issue("127.0.0.1", NOW), false);
    let other_name = port(&all.issue("redis.example", NOW), false);
    let expired = port(&all.issue("127.0.0.1", (2019, 2020)), false);
    let future = port(&all.issue("127.0.0.1", (2098, 2099)), false);
    let closed = port(&all.issue("127.0.0.1", NOW), true);
    let plain = Relay::to(&server.socket(), Duration::ZERO).port().to_string();
    let (cert, key) = all.issue("client", NOW);
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let snapshot = |port: &str, more: &[&str]| {
        run(&home, &[], &[&["snapshot", "--json", "-h", "127.0.0.1", "-p", port][..], more].concat())
    };
    let tls = ["--tls", "--cacert", ca];

    for (port, more) in [
        (&good, &tls[..]),
        (&other_name, &["--tls", "--cacert", ca, "--sni", "redis.example"]),
        (&expired, &["--tls", "--insecure"]),
        (&closed, &["--tls", "--cacert", ca, "--cert", cert, "--key", key]),
        (&good, &["--tls", "--cacertdir", home.to_str().unwrap()]),
    ] {
        let (code, said) = snapshot(port, more);
        assert_eq!(code, 0, "{more:?}: {said}");
        assert!(said.contains("\"workers\""), "{said}");
    }
    for (port, more, sentence) in [
        (
            &good,
            &["--tls"][..],
            "the issuer of its certificate is not known: name the issuer's certificate with --cacert",
        ),
        (&other_name, &tls, "its certificate is not for 127.0.0.1"),
        (&expired, &tls, "its certificate has expired"),
        (&future, &tls, "its certificate is not valid yet: is the clock of this machine right?"),
        (&closed, &tls, "it wants a client certificate: give --cert and --key"),
        (&plain, &tls, "no TLS handshake within 3s: leave out --tls if this port does not speak it"),
        (&good, &[], "if this port wants TLS, give --tls"),
    ] {
        let (code, said) = snapshot(port, more);
        assert_eq!((code, said.trim().lines().count()), (3, 1), "{more:?}: {said}");
        assert!(said.contains(sentence), "{more:?}: {said}");
    }
    let broken = all.path("broken.pem");
    fs::write(&broken, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n").unwrap();
    for (more, sentence) in [
        (&["--tls", "--cacert", "/nonexistent"][..], "/nonexistent: it cannot be read"),
        (
            &["--tls", "--cacert", broken.to_str().unwrap()],
            "can be used to check the server: name the right one with --cacert",
        ),
        (&["--tls", "--cert", cert], "--cert and --key belong together"),
        (&["--tls", "--cert", cert, "--key", ca], "no private key can be read from it"),
        (&["--tls", "--sni", "a b"], "is not a host name"),
        (&["--cacert", ca], "--cacert is about TLS: add --tls"),
    ] {
        let (code, said) = snapshot(&good, more);
        assert_eq!((code, said.trim().lines().count()), (2, 1), "{more:?}: {said}");
        assert!(said.contains(sentence), "{more:?}: {said}");
    }
    // one broken certificate in the system's store spoils nothing
    let store = all.path("store.pem");
    fs::write(&store, fs::read_to_string(&broken).unwrap() + &fs::read_to_string(ca).unwrap()).unwrap();
    let url = format!("rediss://127.0.0.1:{good}");
    let (code, said) = run(&home, &[("SSL_CERT_FILE", &store)], &["snapshot", "--json", &url]);
    assert_eq!(code, 0, "{said}");

    // an action takes the same way
    let claim = [
        "claim",
        "orders",
        "workers",
        "--to",
        "w2",
        "--create",
        "--min-idle",
        "0",
        "--execute",
        "--confirm",
        "workers",
    ];
    let (code, said) = run(&home, &[], &[&claim[..], &["-h", "127.0.0.1", "-p", &good], &tls].concat());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("w1 holds 1 -> 0, w2 holds 0 -> 1"), "{said}");
}

/// Carries a connection with nothing but bash.
const BASH: &str = "bash -c 'exec 3<>/dev/tcp/%h/%p 4<&0; cat <&4 >&3 & exec cat <&3'";

#[test]
fn a_command_carries_the_connection_and_ends_with_it() {
    let Some(server) = seeded() else { return };
    let home = tempfile::tempdir().unwrap();
    let port = Relay::to(&server.socket(), Duration::ZERO).port().to_string();
    let mark = format!("via-{port}");
    let with_mark = format!("env MARK={mark} {BASH}");
    let snapshot =
        |via: &str| run(home.path(), &[], &["snapshot", "--json", "-h", "127.0.0.1", "-p", &port, "--via", via]);
    let (code, said) = snapshot(&with_mark);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\"workers\""), "{said}");
    let runs = || {
        let processes =
            Command::new("sh").arg("-c").arg("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'").output().unwrap();
        String::from_utf8_lossy(&processes.stdout).contains(&mark)
    };
    wait_until("the command has ended", Duration::from_secs(20), || !runs());
    for (via, sentence) in [
        ("echo Permission denied, sorry >&2; exit 1", "the command of --via says: Permission denied, sorry"),
        ("printf 'a\\033[31mb\\n' >&2; exit 1", "the command of --via says: a\\x1b[31mb"),
        ("exit 3", "the command of --via ended, without a word"),
        ("/nonexistent/command %h %p", "the command of --via says: "),
    ] {
        let via = format!("sh -c \"{}\"", via.replace('\\', "\\\\"));
        let (code, said) = snapshot(&via);
        assert_eq!((code, said.trim().lines().count()), (3, 1), "{via}: {said}");
        assert!(said.contains(sentence), "{via}: {said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    let (code, said) = run(home.path(), &[], &["snapshot", "-s", "/x", "--via", "true"]);
    assert_eq!((code, said.contains("--via reaches a host and port")), (2, true), "{said}");
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_given_up_in_the_time_that_was_said() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let home = tempfile::tempdir().unwrap();
    let (code, said) =
        run(home.path(), &[], &["snapshot", "-h", "127.0.0.1", "-p", &port, "--connect-timeout", "200ms"]);
    assert_eq!((code, said.contains("did not answer within 200ms")), (3, true), "{said}");
    let (code, said) = run(home.path(), &[], &["snapshot", "-h", "no.such.host.invalid", "-p", "1"]);
    assert_eq!((code, said.contains("the name no.such.host.invalid cannot be resolved")), (3, true), "{said}");
}
