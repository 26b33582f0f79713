//! A thread that writes records, so that a slow disk does not delay calls.

use std::io;
use std::path::PathBuf;

use tokio::sync::{mpsc, oneshot};

use super::{Error, ExecutionLog, Output, Sink};
use agenticiqa_agent::state::AssessmentRecord;

/// The maximum number of records that wait to be written.
const WAITING: usize = 64;

/// Receives records and writes them in order.
pub struct Writer {
    path: PathBuf,
    records: mpsc::Sender<AssessmentRecord>,
    ended: oneshot::Receiver<Result<(), (io::Error, u64)>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start<S: Sink + 'static>(path: PathBuf, mut output: Output<S>, mut log: Option<ExecutionLog>) -> Self {
        let (records, mut received) = mpsc::channel::<AssessmentRecord>(WAITING);
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let mut write = || {
                while let Some(record) = received.blocking_recv() {
                    output.append(&record)?;
                    if let Some(log) = &mut log {
                        log.append(&record);
                    }
                }
                output.finish()
            };
            let result = write();
            // Close the output before reporting the result, so that a later run does not find it
            // locked.
            let written = output.written();
            drop(output);
            let _ = end.send(result.map_err(|error| (error, written)));
        });
        Self { path, records, ended }
    }

    /// Queues a record. Returns false if the output can no longer be written.
    pub async fn write(&self, record: AssessmentRecord) -> bool {
        self.records.send(record).await.is_ok()
    }

    /// Waits until the last record is written.
    pub async fn finish(self) -> Result<(), Error> {
        drop(self.records);
        match self.ended.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err((error, written))) => Err(Error::Output { path: self.path, error, written }),
            Err(_) => {
                let error = io::Error::other("the thread that writes has failed");
                Err(Error::Output { path: self.path, error, written: 0 })
            }
        }
    }
}
