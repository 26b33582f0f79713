//! Which files MCP clients may name.
//!
//! Over HTTP, these are the allowed folders of the server. Over stdio, the client started the
//! process and may announce its folders (`roots/list`).

use std::path::PathBuf;
use std::time::Duration;

use axum::http::StatusCode;
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use tokio::sync::Mutex;
use url::Url;

use crate::error::Problem;
use crate::roots::{ALLOW_FOLDER, Roots};

/// The maximum time for a client to announce its folders.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(10);

/// Which files a client may name.
#[derive(Debug)]
pub enum Access {
    /// Files in the allowed folders of the server.
    Server,
    /// Files in the folders that the client announces, or in the working folder if it announces
    /// none.
    Client(Mutex<Option<Allowed>>),
}

/// The folders of a client.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// The folders as roots.
    pub roots: Roots,
    folders: Vec<PathBuf>,
}

impl Access {
    /// Allows the folders of the client. They are requested when the first path is used.
    pub fn of_client() -> Self {
        Self::Client(Mutex::default())
    }

    /// Returns the folders of the client, or `None` if the server decides.
    pub async fn allowed(&self, context: &RequestContext<RoleServer>) -> Result<Option<Allowed>, Problem> {
        let Self::Client(known) = self else { return Ok(None) };
        let mut known = known.lock().await;
        if known.is_none() {
            let announced = announced(context).await?;
            let folders = if announced.is_empty() { working_folder().into_iter().collect() } else { announced };
            *known = Some(Allowed::of(folders));
        }
        Ok(known.clone())
    }

    /// Discards the folders after the client has reported a change.
    pub async fn forget(&self) {
        if let Self::Client(known) = self {
            *known.lock().await = None;
        }
    }

    /// Returns advice for a refused path.
    pub async fn advice(&self) -> String {
        let bytes = format!("send the image's bytes in base64, or ask the operator to {ALLOW_FOLDER}");
        let Self::Client(known) = self else {
            return format!("name a file below a folder that this server may read, {bytes}");
        };
        let folders = known.lock().await.as_ref().map(|allowed| allowed.folders.clone()).unwrap_or_default();
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("name a file below {}, {bytes}", folders.join(" or "))
    }
}

impl Allowed {
    /// Keeps the folders that exist.
    fn of(folders: Vec<PathBuf>) -> Self {
        let usable = |folder: &PathBuf| match Roots::new(std::slice::from_ref(folder)) {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!("a folder of the client cannot be used: {error}");
                false
            }
        };
        let folders: Vec<PathBuf> = folders.into_iter().filter(usable).collect();
        Self { roots: Roots::new(&folders).unwrap_or_default(), folders }
    }
}

/// Requests the folders of the client. Returns none if the client does not support the request.
#[expect(
    deprecated,
    reason = "current clients announce folders this way; newer versions of the protocol have no replacement yet"
)]
async fn announced(context: &RequestContext<RoleServer>) -> Result<Vec<PathBuf>, Problem> {
    let knows = context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
    // Since this version, servers send no requests to clients.
    let asks = context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    if !knows || !asks {
        return Ok(Vec::new());
    }
    let refused = |reason: String| {
        let message =
            format!("the client did not say which folders may be read ({reason}): the operator must {ALLOW_FOLDER}");
        Problem::new(StatusCode::FORBIDDEN, "ForbiddenPathError", message)
    };
    let asked = context.peer.list_roots();
    let told = tokio::time::timeout(ROOTS_TIMEOUT, asked)
        .await
        .map_err(|_| refused(format!("no answer within {ROOTS_TIMEOUT:?}")))?;
    let told = told.map_err(|error| refused(error.to_string()))?;
    Ok(told.roots.iter().filter_map(|root| file_path(&root.uri)).collect())
}

/// Returns the path of a `file://` URI.
pub fn file_path(address: &str) -> Option<PathBuf> {
    Url::parse(address).ok().filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok())
}

/// Returns the working folder, unless it is the root of the file system, where desktop programs
/// often start other programs.
fn working_folder() -> Option<PathBuf> {
    std::env::current_dir().ok().filter(|folder| folder.parent().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_become_paths() {
        assert_eq!(file_path("file:///home/me/my%20photos"), Some(PathBuf::from("/home/me/my photos")));
        assert_eq!(file_path("https://example.org/a"), None);
        assert_eq!(file_path("/home/me"), None);
    }

    #[test]
    fn folders_that_are_not_there_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let allowed = Allowed::of(vec![folder.path().join("none"), folder.path().to_owned()]);
        assert_eq!(allowed.folders, [folder.path()]);
        assert!(Allowed::of(vec![folder.path().join("none")]).roots.is_empty());
    }
}
