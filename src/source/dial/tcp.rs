//! TCP. A name may have more than one address, and the first may be dead: each is tried.

use std::time::Duration;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

/// An address is given up after this, if there are others.
const ONE_OF_MORE: Duration = Duration::from_secs(1);

/// # Errors
/// Why the last address could not be reached, or the name has none.
pub(in crate::source) async fn connect(host: &str, port: u16, limit: Duration) -> Result<TcpStream, String> {
    let addresses: Vec<_> = lookup_host((host, port)).await.map_err(|error| unknown(host, &error))?.collect();
    let each = if addresses.len() > 1 {
        ONE_OF_MORE.min(limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX))
    } else {
        limit
    };
    let mut why = format!("the name {} has no address", crate::core::name::visible(host.as_bytes()));
    for address in &addresses {
        why = match timeout(each, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // commands are small and answers are waited for
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} ms", each.as_millis()),
        };
    }
    Err(match addresses.len() {
        0 | 1 => why,
        n => format!("{why} (none of its {n} addresses answers)"),
    })
}

fn unknown(host: &str, error: &std::io::Error) -> String {
    let host = crate::core::name::visible(host.as_bytes());
    format!("the name {host} cannot be resolved ({error})")
}
