//! What edits would change: the work behind `POST /what-if`.

use std::sync::Arc;

use agenticiqa::analysis;
use agenticiqa::metrics::Image;
use agenticiqa::repair::{self, Edit, Effort};

use crate::answers::{Mended, WhatIfAnswer};
use crate::app::App;
use crate::error::Problem;
use crate::requests::WhatIfRequest;
use crate::sources::RequestImage;

impl App {
    /// Tries edits on an image, or applies those of the request. Returns the mended image too, if an edit
    /// was applied.
    pub async fn what_if(
        self: &Arc<Self>,
        request: WhatIfRequest,
        image: RequestImage,
    ) -> Result<(WhatIfAnswer, Option<Image>), Problem> {
        request.check()?;
        let turn = self.admission.enter().await?;
        let app = Arc::clone(self);
        let work = move || {
            let _turn = turn;
            let loaded = app.open_picture("image", image, false)?;
            let pixels = loaded.source.picture.image.clone();
            let refused = |error: &dyn std::fmt::Display| Problem::invalid(format!("image: {error}"));
            let examination = analysis::examine(&pixels, None).map_err(|error| refused(&error))?;
            let what_ifs = repair::what_if(&pixels, &examination, Effort::Full).map_err(|error| refused(&error))?;
            let (mended, edits, score) = match &request.edits[..] {
                [] => repair::mended(&pixels, &what_ifs)
                    .map_err(|error| refused(&error))?
                    .map_or((None, Vec::new(), None), |(image, edits, score)| (Some(image), edits, Some(score))),
                edits => {
                    let image = apply(&pixels, edits).map_err(|error| refused(&error))?;
                    let score = agenticiqa::fused_nr::judge(&image).map_err(|error| refused(&error))?.score;
                    (Some(image), edits.to_vec(), Some(score))
                }
            };
            let mended_by = score.map(|score| Mended { edits, score });
            Ok((WhatIfAnswer { image_id: loaded.id, what_ifs, mended: mended_by }, mended))
        };
        tokio::task::spawn_blocking(work).await?
    }
}

fn apply(image: &Image, edits: &[Edit]) -> Result<Image, agenticiqa::metrics::Error> {
    edits.iter().try_fold(image.clone(), |image, edit| edit.apply(&image))
}
