//! Encrypted connections: rustls with the system's certificates, or those that `sslrootcert` names.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{ServerAddress, TlsMode};

/// Returns what makes TLS connections to a server.
pub(super) fn tls_connector(address: &ServerAddress) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match address.tls {
        TlsMode::Verified => {
            builder.with_root_certificates(trusted_roots(address)?).with_no_client_auth()
        }
        TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(UncheckedCertificate(provider)))
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn trusted_roots(address: &ServerAddress) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let certificates: Vec<CertificateDer<'static>> =
        match &address.root_cert {
            Some(path) => CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(
                |error| format!("cannot read the certificates in {}: {error}", path.display()),
            )?,
            None => rustls_native_certs::load_native_certs().certs,
        };
    // Systems carry certificates that rustls cannot read; the others are enough.
    roots.add_parsable_certificates(certificates);
    if roots.is_empty() {
        return Err("this system has no trusted certificates; name a file with ?sslrootcert=FILE"
            .to_owned());
    }
    Ok(roots)
}

/// Takes any certificate, as `psql` does with `sslmode=require`: the connection is encrypted, but the server could be
/// another one.
#[derive(Debug)]
struct UncheckedCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for UncheckedCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
