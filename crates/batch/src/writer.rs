//! The thread that writes: a slow disk holds up no call.

use std::io;
use std::path::PathBuf;

use tokio::sync::{mpsc, oneshot};

use super::{Error, ExecutionLog, Output, Sink};
use agenticiqa_agent::state::AssessmentRecord;

/// Records that wait to be written.
const WAITING: usize = 64;

/// Takes records and writes them, one after the other.
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
            // Before it is told: nobody finds the output locked by a run that has ended.
            let written = output.written();
            drop(output);
            let _ = end.send(result.map_err(|error| (error, written)));
        });
        Self { path, records, ended }
    }

    /// Hands a record over; whether it was taken. It is not once the output cannot be written.
    pub async fn write(&self, record: AssessmentRecord) -> bool {
        self.records.send(record).await.is_ok()
    }

    /// Waits for the last record.
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
