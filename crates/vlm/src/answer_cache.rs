//! Cache of model answers, so that the same question is paid for once.
//!
//! The key of an answer is everything that affects it: the server, the model, the texts with the
//! question, the images, the sampling options and the schema. The caller adds what a request does not
//! show, such as the round of an assessment. Only answers that could be used are stored. They stay in memory (bounded, least recently used first out) and, if a folder is
//! configured, on disk across runs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moka::sync::Cache;

use super::stored::{Request, StoredAnswer};
use super::{Answer, Attachment, Options, Prompt};
use agenticiqa_imaging::files::{read_sealed, write_sealed};

/// The maximum size of the answers in memory, in bytes.
const MEMORY: u64 = 32 << 20;

/// The key of a cached answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerKey(String);

impl AnswerKey {
    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0[..2]).join(format!("{}.json", &self.0[2..]))
    }
}

/// A cache of usable answers in memory and optionally on disk. Clones share their answers.
#[derive(Debug, Clone)]
pub struct AnswerCache {
    memory: Cache<AnswerKey, Arc<StoredAnswer>>,
    disk: Option<PathBuf>,
    server: String,
}

impl AnswerCache {
    /// Creates a cache in memory, and in the folder `disk` if given.
    pub fn new(disk: Option<PathBuf>) -> Self {
        let size = |_: &AnswerKey, answer: &Arc<StoredAnswer>| answer.size();
        let lru = moka::policy::EvictionPolicy::lru();
        let memory = Cache::builder().max_capacity(MEMORY).weigher(size).eviction_policy(lru).build();
        Self { memory, disk, server: String::new() }
    }

    /// Returns a view of the cache for the server at `address`. Models of other servers may have
    /// the same name.
    #[must_use]
    pub fn for_server(&self, address: &str) -> Self {
        Self { server: address.to_owned(), ..self.clone() }
    }

    /// Returns the key of a request. Requests with another `subject` are kept apart, even if
    /// everything that is sent is the same.
    pub fn key(
        &self,
        subject: &str,
        backend: &str,
        prompt: &Prompt,
        images: &[Attachment],
        options: &Options,
    ) -> Option<AnswerKey> {
        let backend = format!("{backend} {} {subject}", self.server);
        Request::new(&backend, prompt, images, options).hash().ok().map(AnswerKey)
    }

    /// Returns the stored answer. A damaged file counts as missing.
    pub fn get(&self, key: &AnswerKey) -> Option<Answer> {
        let found = self.memory.get(key).or_else(|| self.read(key).map(Arc::new))?;
        self.memory.insert(key.clone(), Arc::clone(&found));
        Some(Answer::from(StoredAnswer::clone(&found)))
    }

    /// Stores an answer. If the disk cannot be written, it is kept in memory and a warning is
    /// logged.
    pub fn insert(&self, key: &AnswerKey, answer: &Answer) {
        let stored = StoredAnswer::from(answer);
        if let Some(folder) = &self.disk {
            let file = key.file(folder);
            let json = serde_json::to_vec(&stored).map_err(std::io::Error::from);
            if let Err(error) = json.and_then(|json| write_sealed(&file, &json)) {
                tracing::warn!("{}: cannot write the answer cache: {error}", file.display());
            }
        }
        self.memory.insert(key.clone(), Arc::new(stored));
    }

    fn read(&self, key: &AnswerKey) -> Option<StoredAnswer> {
        let file = key.file(self.disk.as_deref()?);
        let read = match read_sealed(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            read => read.and_then(|json| serde_json::from_slice(&json).map_err(std::io::Error::from)),
        };
        read.inspect_err(|error| {
            tracing::warn!("{}: cannot use the cached answer, asking again: {error}", file.display());
        })
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;

    fn answer(text: &str) -> Answer {
        let usage = Usage { prompt_tokens: 7, completion_tokens: 3 };
        Answer { text: text.to_owned(), logprobs: None, usage, model: "m".to_owned(), truncated: false }
    }

    fn prompt(user: &str) -> Prompt {
        Prompt { system: "s".to_owned(), user: user.to_owned() }
    }

    fn picture(bytes: &[u8]) -> Vec<Attachment> {
        vec![Attachment { label: "Image:".to_owned(), mime: "image/png", bytes: bytes.into() }]
    }

    #[test]
    fn keys_differ_in_subject_question_image_model_server_and_settings() {
        let cache = AnswerCache::new(None);
        let (usual, warm) = (Options::default(), Options { temperature: 0.7, ..Options::default() });
        let keys = [
            cache.key("", "openai.a", &prompt("sharp?"), &picture(b"1"), &usual),
            cache.key("round 1", "openai.a", &prompt("sharp?"), &picture(b"1"), &usual),
            cache.key("", "openai.a", &prompt("noisy?"), &picture(b"1"), &usual),
            cache.key("", "openai.a", &prompt("sharp?"), &picture(b"2"), &usual),
            cache.key("", "openai.b", &prompt("sharp?"), &picture(b"1"), &usual),
            cache.key("", "openai.a", &prompt("sharp?"), &picture(b"1"), &warm),
            cache.for_server("http://127.0.0.1:1").key("", "openai.a", &prompt("sharp?"), &picture(b"1"), &usual),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(key.is_some() && !keys[..index].contains(key));
        }
    }

    #[test]
    fn clones_share_the_answers_in_memory() {
        let cache = AnswerCache::new(None);
        let key = cache.key("", "openai.a", &prompt("sharp?"), &[], &Options::default()).unwrap();
        assert_eq!(cache.get(&key), None);
        cache.for_server("http://127.0.0.1:1").insert(&key, &answer("yes"));
        assert_eq!(cache.get(&key), Some(answer("yes")));
    }

    #[test]
    fn an_answer_from_the_disk_stays_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let open = || AnswerCache::new(Some(folder.path().to_owned()));
        let key = open().key("", "openai.a", &prompt("sharp?"), &[], &Options::default()).unwrap();
        open().insert(&key, &answer("yes"));
        let cache = open();
        assert_eq!(cache.get(&key), Some(answer("yes")));
        std::fs::remove_file(key.file(folder.path())).unwrap();
        assert_eq!(cache.get(&key), Some(answer("yes")));
        assert_eq!(open().get(&key), None);
    }

    #[test]
    fn the_disk_keeps_answers_across_runs_and_a_damaged_file_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || AnswerCache::new(Some(folder.path().to_owned()));
        let key = open().key("", "openai.a", &prompt("sharp?"), &[], &Options::default()).unwrap();
        assert_eq!(open().get(&key), None);
        open().insert(&key, &answer("yes"));
        assert_eq!(open().get(&key), Some(answer("yes")));
        let edited = std::fs::read_to_string(key.file(folder.path())).unwrap().replace("yes", "no");
        std::fs::write(key.file(folder.path()), edited).unwrap();
        assert_eq!(open().get(&key), None);
    }
}
