//! TLS with redis-cli's flags. There is never a fall-back to a plain connection.

use super::{Reason, Wire};
use crate::core::command::Argv;
use std::{
    fs, io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    },
};

/// The flags.
#[derive(Clone, Debug, Default)]
pub struct TlsFiles {
    /// --sni
    pub sni: Option<String>,
    /// --cacert
    pub ca_file: Option<PathBuf>,
    /// --cacertdir
    pub ca_folder: Option<PathBuf>,
    /// --cert
    pub certificate: Option<PathBuf>,
    /// --key
    pub key: Option<PathBuf>,
    /// --insecure
    pub insecure: bool,
}

impl TlsFiles {
    /// The first flag that was given, to name it.
    pub fn first_flag(&self) -> Option<&'static str> {
        let given = [
            ("--sni", self.sni.is_some()),
            ("--cacert", self.ca_file.is_some()),
            ("--cacertdir", self.ca_folder.is_some()),
            ("--cert", self.certificate.is_some()),
            ("--key", self.key.is_some()),
            ("--insecure", self.insecure),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// The flags as redis-cli takes them, with a blank in front of each.
    pub fn words(&self) -> String {
        let paths = [
            ("--cacert", &self.ca_file),
            ("--cacertdir", &self.ca_folder),
            ("--cert", &self.certificate),
            ("--key", &self.key),
        ];
        let paths = paths.into_iter().filter_map(|(flag, path)| Some((flag, shown(path.as_ref()?))));
        let words = self.sni.clone().map(|sni| ("--sni", sni)).into_iter().chain(paths);
        let insecure = if self.insecure { " --insecure" } else { "" };
        let words: Vec<String> =
            words.map(|(flag, value)| format!(" {flag} {}", Argv::of(&[value.as_bytes()]))).collect();
        words.concat() + insecure
    }
}

/// What is wrong with the flags or the files that they name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("{file}: {why}")]
    File { file: String, why: String },
    #[error("no certificate of {place} can be used to check the server: name the right one with --cacert")]
    NoRoots { place: String },
    #[error("--cert and --key belong together: give both")]
    Half,
    #[error("the client certificate cannot be used: {0}")]
    Client(String),
    #[error("--sni '{0}' is not a host name")]
    Sni(String),
}

/// How connections are protected; made once, used for each.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    sni: Option<String>,
    /// The server's certificate is not checked.
    pub insecure: bool,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("sni", &self.sni).field("insecure", &self.insecure).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files. Without any named, the system's certificates decide; one of them that is broken spoils nothing.
    ///
    /// # Errors
    /// When a file cannot be read or used.
    pub fn new(files: &TlsFiles) -> Result<Self, TlsError> {
        if let Some(sni) = files.sni.as_deref().filter(|sni| ServerName::try_from(*sni).is_err()) {
            return Err(TlsError::Sni(crate::core::name::visible(sni.as_bytes())));
        }
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder =
            builder.with_safe_default_protocol_versions().map_err(|error| TlsError::Client(error.to_string()))?;
        let builder = if files.insecure {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        } else {
            builder.with_root_certificates(roots(files)?)
        };
        let config = match (&files.certificate, &files.key) {
            (None, None) => builder.with_no_client_auth(),
            (Some(certificate), Some(key)) => {
                let chain = certificates(certificate)?;
                let wrong = |why: String| TlsError::File { file: shown(key), why };
                let key = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| wrong(format!("no private key can be read from it ({error})")))?;
                builder.with_client_auth_cert(chain, key).map_err(|error| TlsError::Client(error.to_string()))?
            }
            _ => return Err(TlsError::Half),
        };
        Ok(Self { config: Arc::new(config), sni: files.sni.clone(), insecure: files.insecure })
    }

    /// Shakes hands over a connection.
    pub(in crate::source) async fn over(
        &self,
        plain: Box<dyn Wire>,
        host: &str,
        reason: &Reason,
    ) -> Result<Protected, String> {
        let name = self.sni.as_deref().unwrap_or(host);
        let server = ServerName::try_from(name.to_owned()).map_err(|_| {
            format!(
                "{} is not a name that a certificate can have: give --sni",
                crate::core::name::visible(name.as_bytes())
            )
        })?;
        let stream = TlsConnector::from(Arc::clone(&self.config)).connect(server, plain).await;
        match stream {
            Ok(stream) => Ok(Protected { stream: Box::new(stream), reason: reason.clone() }),
            Err(error) => Err(sentence(&error, name)),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// All certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = |why: String| TlsError::File { file: shown(path), why };
    let bytes = fs::read(path).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&bytes).filter_map(Result::ok).collect();
    if found.is_empty() { Err(wrong("there is no certificate in it (PEM)".to_owned())) } else { Ok(found) }
}

fn roots(files: &TlsFiles) -> Result<RootCertStore, TlsError> {
    let mut found = Vec::new();
    let mut places = Vec::new();
    if let Some(file) = &files.ca_file {
        found.extend(certificates(file)?);
        places.push(shown(file));
    }
    if let Some(folder) = &files.ca_folder {
        let unreadable =
            |error: io::Error| TlsError::File { file: shown(folder), why: format!("it cannot be read: {error}") };
        for entry in fs::read_dir(folder).map_err(unreadable)?.flatten() {
            // other files may lie there
            found.extend(certificates(&entry.path()).unwrap_or_default());
        }
        places.push(shown(folder));
    }
    if places.is_empty() {
        found = rustls_native_certs::load_native_certs().certs;
        places.push("this system".to_owned());
    }
    let mut store = RootCertStore::empty();
    let (usable, _) = store.add_parsable_certificates(found);
    if usable == 0 { Err(TlsError::NoRoots { place: places.join(" and ") }) } else { Ok(store) }
}

/// Why a handshake failed, and what can be done.
fn sentence(error: &io::Error, name: &str) -> String {
    let name = crate::core::name::visible(name.as_bytes());
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(why)) => certificate_sentence(why, &name),
        Some(Error::AlertReceived(alert)) => alert_sentence(*alert),
        Some(Error::InvalidMessage(_)) => {
            "it does not speak TLS there: leave out --tls, or name the port that does".to_owned()
        }
        Some(other) => format!("TLS: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "it hung up during the TLS handshake: does this port speak TLS?".to_owned()
        }
        None => error.to_string(),
    }
}

fn certificate_sentence(why: &CertificateError, name: &str) -> String {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: it must be renewed on the server".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: is the clock of this machine right?".to_owned()
        }
        CertificateError::NotValidForName => {
            format!("its certificate is not for {name}: give the name that it is for with --sni")
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let of = if presented.is_empty() { String::new() } else { format!(", but for {}", presented.join(", ")) };
            format!("its certificate is not for {name}{of}: give the name that it is for with --sni")
        }
        CertificateError::UnknownIssuer => {
            "the issuer of its certificate is not known: name the issuer's certificate with --cacert".to_owned()
        }
        CertificateError::Revoked => "its certificate was revoked".to_owned(),
        other => format!("its certificate is not accepted: {other}"),
    }
}

fn alert_sentence(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => "it wants a client certificate: give --cert and --key".to_owned(),
        AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateRevoked
        | AlertDescription::AccessDenied => {
            format!("it refuses the client certificate of --cert ({alert:?})")
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            format!(
                "it has no TLS version or cipher that is safe enough ({alert:?}), or wants a client certificate (--cert)"
            )
        }
        AlertDescription::UnrecognisedName => {
            "it serves no host of that name: give the right one with --sni".to_owned()
        }
        other => format!("TLS: it ended the connection ({other:?})"),
    }
}

/// A connection under TLS. A server tells after the handshake that it refuses the client; that is kept as the reason.
pub(in crate::source) struct Protected {
    stream: Box<TlsStream<Box<dyn Wire>>>,
    reason: Reason,
}

impl Protected {
    fn note<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &polled
            && matches!(error.get_ref(), Some(inner) if inner.is::<Error>())
        {
            self.reason.set(sentence(error, ""));
        }
        polled
    }
}

impl AsyncRead for Protected {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.note(polled)
    }
}

impl AsyncWrite for Protected {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.note(polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Accepts every certificate (--insecure). The signatures of the handshake are checked all the same.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
