//! Terminal.
/// Asks for a password.
pub fn askpass() -> std::io::Result<String> { Ok(String::new()) }
