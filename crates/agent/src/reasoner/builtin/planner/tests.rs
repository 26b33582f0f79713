use super::*;
use crate::question::options_in;

/// A plan in one line: type, scope, distortions, tools, steps (Detection, Analysis, Selection,
/// eXecution).
fn shown(plan: &PlannerOutput) -> String {
    let list = |distortions: &[Distortion]| {
        distortions.iter().map(|distortion| distortion.name().split(' ').next().unwrap()).collect::<Vec<_>>().join("+")
    };
    let distortions = plan.distortions.as_ref().map_or("-".to_owned(), |named| {
        named.iter().map(|(part, listed)| format!("{part}:{}", list(listed))).collect::<Vec<_>>().join(",")
    });
    let tools = plan.required_tools().join(",");
    let step = |on: bool, letter: char| if on { letter } else { '.' };
    let flags = plan.plan;
    let steps: String = [
        step(flags.distortion_detection, 'D'),
        step(flags.distortion_analysis, 'A'),
        step(flags.tool_selection, 'S'),
        step(flags.tool_execution, 'X'),
    ]
    .into_iter()
    .collect();
    let kind = if plan.query_type == QueryType::Iqa { "IQA" } else { "Other" };
    assert_eq!(plan.distortion_source == DistortionSource::Explicit, plan.distortions.is_some());
    let tools = if tools.is_empty() { "-" } else { &tools };
    format!("{kind} | {} | {distortions} | {tools} | {steps}", plan.query_scope.names().join(","))
}

fn planned(query: &str) -> PlannerOutput {
    plan(query, &options_in(query), false, &[], &Registry::builtin().unwrap(), &[], &[])
}

fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(query, expected)| (query, expected, shown(&planned(query))))
        .filter(|(_, expected, found)| **expected != found)
        .map(|(query, expected, found)| format!("{query}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

#[test]
fn english_questions_about_the_whole_picture() {
    check(&[
        ("Assess the quality of this image.", "IQA | Global | - | - | DASX"),
        ("", "IQA | Global | - | - | DASX"),
        ("Rate the overall quality of the photo.", "IQA | Global | - | - | DASX"),
        ("Which distortion is most severe in this image?", "IQA | Global | - | - | DASX"),
        ("Is there any problem with the image?", "IQA | Global | - | - | DASX"),
        ("What degrades the quality of this picture?", "IQA | Global | - | - | DASX"),
        ("Is the image blurry?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("Is this photo sharp?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("Is the image out-of-focus?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("Does the picture suffer from motion blur?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("How severe is the noise?", "IQA | Global | Global:Noise | - | .ASX"),
        ("Does the image look grainy?", "IQA | Global | Global:Noise | - | .ASX"),
        ("Is the picture overexposed?", "IQA | Global | Global:Brightness | - | .ASX"),
        ("Is it too dark?", "IQA | Global | Global:Brightness | - | .ASX"),
        ("Does it look washed out?", "IQA | Global | Global:Contrast | - | .ASX"),
        ("Is the image hazy?", "IQA | Global | Global:Contrast | - | .ASX"),
        ("Are there blocky artifacts or banding?", "IQA | Global | Global:Compression | - | .ASX"),
        ("Is the image pixelated?", "IQA | Global | Global:Compression | - | .ASX"),
        ("Is there a colour cast?", "IQA | Global | Global:Color | - | .ASX"),
        ("Are the colors oversaturated?", "IQA | Global | Global:Color | - | .ASX"),
        ("Do you see halos from oversharpening?", "IQA | Global | Global:Sharpness | - | .ASX"),
        ("How is the lighting of this image?", "IQA | Global | Global:Brightness | - | .ASX"),
        ("How is the sharpness of the image?", "IQA | Global | Global:Blurs+Sharpness | - | .ASX"),
        ("How is the clarity?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("How are the colors?", "IQA | Global | Global:Color | - | .ASX"),
        ("Is the contrast of the photo good?", "IQA | Global | Global:Contrast | - | .ASX"),
        ("Is the image noisy or blurry?", "IQA | Global | Global:Noise+Blurs | - | .ASX"),
        ("Are the details well preserved?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("Describe the distortions in detail.", "IQA | Global | - | - | DASX"),
        ("Is this JPEG blurry?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("How strong is the JPEG compression?", "IQA | Global | Global:Compression | - | .ASX"),
        ("What is the quality of this car photo?", "IQA | Global | - | - | DASX"),
    ]);
}

#[test]
fn english_questions_about_parts() {
    check(&[
        ("Is the car blurry?", "IQA | car | car:Blurs | - | .A.."),
        ("Are the faces in focus?", "IQA | faces | faces:Blurs | - | .A.."),
        ("Is the sky in the background noisy?", "IQA | sky | sky:Noise | - | .A.."),
        ("Is there noise in the sky?", "IQA | sky | sky:Noise | - | .A.."),
        ("Is the person's face sharp?", "IQA | face | face:Blurs | - | .A.."),
        ("Is the face of the woman overexposed?", "IQA | face | face:Brightness | - | .A.."),
        ("How is the quality of the background?", "IQA | background | - | - | DA.."),
        (
            "Is the foreground sharper than the background?",
            "IQA | foreground,background | background:Blurs,foreground:Blurs | - | .A..",
        ),
        ("Is the car blurry and the sky noisy?", "IQA | car,sky | car:Blurs,sky:Noise | - | .A.."),
        ("Are the car and the building blurry?", "IQA | car,building | building:Blurs,car:Blurs | - | .A.."),
        ("Is the text readable?", "IQA | text | text:Blurs | - | .A.."),
        ("Is the license plate legible?", "IQA | license plate | license plate:Blurs | - | .A.."),
        ("Is the teapot overexposed?", "IQA | teapot | teapot:Brightness | - | .A.."),
        ("Does the old violin look blurry?", "IQA | old violin | old violin:Blurs | - | .A.."),
        ("How clear is the teapot?", "IQA | teapot | teapot:Blurs | - | .A.."),
        ("Rate the sharpness of the teapot", "IQA | teapot | teapot:Blurs+Sharpness | - | .A.."),
        ("Is the dark car blurry?", "IQA | car | car:Blurs | - | .A.."),
        ("Is the main subject in focus?", "IQA | main subject | main subject:Blurs | - | .A.."),
        ("Are the trees affected by compression artefacts?", "IQA | trees | trees:Compression | - | .A.."),
        ("Is the focus on the dog?", "IQA | dog | dog:Blurs | - | .A.."),
        ("Assess the quality of the left side.", "IQA | left side | - | - | DA.."),
    ]);
}

#[test]
fn english_questions_that_name_tools() {
    check(&[
        ("What is the BRISQUE score of this image?", "IQA | Global | - | BRISQUE | DA.X"),
        ("Use ms_ssim and psnr to assess the image", "IQA | Global | - | MS-SSIM,PSNR | DA.X"),
        ("Use Q-Align on the car", "IQA | car | - | QAlign | DA.X"),
        ("How blurry is the car according to NIQE?", "IQA | car | car:Blurs | NIQE | .A.X"),
        ("Run TOPIQ on it", "IQA | Global | - | TOPIQ_FR | DA.X"),
        ("Measure it with MAD", "IQA | Global | - | MAD | DA.X"),
        ("Was a mad man blurred?", "IQA | man | man:Blurs | - | .A.."),
        ("Use the mad metric", "IQA | Global | - | MAD | DA.X"),
        ("Is there a unique artifact?", "IQA | Global | Global:Compression | - | .ASX"),
        ("Give me the noise score", "IQA | Global | - | Noise | DA.X"),
        ("Is the contrast low? Use the Sharpness tool.", "IQA | Global | Global:Contrast | Sharpness | .A.X"),
        ("Is the JPEG quality low?", "IQA | Global | Global:Compression | - | .ASX"),
        ("IS THE PICTURE MAD OR BLURRY", "IQA | Global | Global:Blurs | - | .ASX"),
    ]);
}

#[test]
fn questions_that_are_not_about_technical_quality() {
    check(&[
        ("What emotion does this picture evoke?", "Other | Global | - | - | ...."),
        ("Is this image beautiful?", "Other | Global | - | - | ...."),
        ("How is the composition?", "Other | Global | - | - | ...."),
        ("Rate the aesthetic quality of this photo.", "Other | Global | - | - | ...."),
        ("What artistic style is it?", "Other | Global | - | - | ...."),
        ("Is the mood dark?", "IQA | Global | Global:Brightness | - | .ASX"),
        ("How many people are there?", "Other | people | - | - | ...."),
        ("What color is the car?", "IQA | car | - | - | DA.."),
        ("Is there a dog in the picture?", "Other | dog | - | - | ...."),
        ("这张照片美吗？", "Other | Global | - | - | ...."),
        ("图片的构图怎么样？", "Other | Global | - | - | ...."),
        ("这幅图表达了什么情感？", "Other | Global | - | - | ...."),
        ("车是什么颜色？", "Other | 车 | - | - | ...."),
        ("Is the beautiful picture also sharp?", "IQA | Global | Global:Blurs | - | .ASX"),
        ("Rate the image quality and its beauty.", "IQA | Global | - | - | DASX"),
    ]);
}

#[test]
fn chinese_questions() {
    check(&[
        ("这张图片的质量如何？", "IQA | Global | - | - | DASX"),
        ("请对图像质量打分", "IQA | Global | - | - | DASX"),
        ("哪种失真最严重？", "IQA | Global | - | - | DASX"),
        ("图像模糊吗？", "IQA | Global | Global:Blurs | - | .ASX"),
        ("这张照片清晰吗？", "IQA | Global | Global:Blurs | - | .ASX"),
        ("图像有没有噪点？", "IQA | Global | Global:Noise | - | .ASX"),
        ("画面是否过曝？", "IQA | Global | Global:Brightness | - | .ASX"),
        ("图片偏色严重吗？", "IQA | Global | Global:Color | - | .ASX"),
        ("有压缩痕迹或者块效应吗？", "IQA | Global | Global:Compression | - | .ASX"),
        ("对比度怎么样？", "IQA | Global | Global:Contrast | - | .ASX"),
        ("是否过度锐化？", "IQA | Global | Global:Sharpness | - | .ASX"),
        ("光线如何？", "IQA | Global | Global:Brightness | - | .ASX"),
        ("整体画面是不是太暗？", "IQA | Global | Global:Brightness | - | .ASX"),
        ("汽车模糊吗？", "IQA | 汽车 | 汽车:Blurs | - | .A.."),
        ("背景中的天空有噪点吗？", "IQA | 天空 | 天空:Noise | - | .A.."),
        ("人物的脸部是否过曝？", "IQA | 脸部 | 脸部:Brightness | - | .A.."),
        ("茶壶模糊吗？", "IQA | 茶壶 | 茶壶:Blurs | - | .A.."),
        ("图中的茶壶是否清晰？", "IQA | 茶壶 | 茶壶:Blurs | - | .A.."),
        ("背景的质量如何？", "IQA | 背景 | - | - | DA.."),
        ("请用BRISQUE评估这张图", "IQA | Global | - | BRISQUE | DA.X"),
        ("天空和汽车哪个更模糊？", "IQA | 天空,汽车 | 天空:Blurs,汽车:Blurs | - | .A.."),
    ]);
}

#[test]
fn options_are_no_part_of_the_question_but_name_the_parts_to_choose_from() {
    check(&[
        ("Which distortion is the worst? A. Blur B. Noise C. Compression", "IQA | Global | - | - | DASX"),
        ("Is the image blurry? A. Yes B. No", "IQA | Global | Global:Blurs | - | .ASX"),
        ("How is the quality? A) Good B) Fair C) Poor", "IQA | Global | - | - | DASX"),
        ("Which part is most blurry?\nA. The car\nB. The sky", "IQA | car,sky | car:Blurs,sky:Blurs | - | .A.."),
        ("Which object has the best quality?\nA. teapot\nB. dog", "IQA | teapot,dog | - | - | DA.."),
        ("哪个区域最模糊？A、天空B、汽车", "IQA | 天空,汽车 | 天空:Blurs,汽车:Blurs | - | .A.."),
        ("What is the mood? A. dark B. bright", "IQA | Global | - | - | DASX"),
    ]);
}

#[test]
fn given_regions_keep_their_names_and_a_reference_is_noted() {
    let registry = Registry::builtin().unwrap();
    let plan =
        plan("Are the Left Doors or the background blurry?", &[], true, &["left door", "roof"], &registry, &[], &[]);
    assert_eq!(plan.query_scope.names(), ["left door", "background"]);
    assert_eq!(plan.reference_mode, ReferenceMode::FullReference);
}

#[test]
fn tools_of_the_user_come_first_each_once_and_make_it_a_measurement() {
    let registry = Registry::builtin().unwrap();
    let tools = ["niqe".to_owned(), "NoSuchTool".to_owned()];
    let named = plan("Is it beautiful? Use BRISQUE and NIQE.", &[], false, &[], &registry, &tools, &[]);
    assert_eq!(named.required_tools(), ["NIQE", "NoSuchTool", "BRISQUE"]);
    assert_eq!(shown(&named), "IQA | Global | - | NIQE,NoSuchTool,BRISQUE | DA.X");
    let fused = plan("Run WaDIQaM", &[], false, &[], &registry, &[], &[]);
    assert_eq!(fused.required_tools(), ["WaDIQaM_NR"]);
}

#[test]
fn a_new_plan_closes_the_gap_of_the_one_before() {
    let registry = Registry::builtin().unwrap();
    let query = "Is the car blurry?";
    let tried = planned(query);
    let steps = |reason: &str| {
        let reasons = [(reason.to_owned(), tried.clone())];
        shown(&plan(query, &[], false, &[], &registry, &[], &reasons)).rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(shown(&tried).rsplit(' ').next(), Some(".A.."));
    assert_eq!(steps("Missing tool scores for car region"), ".ASX");
    assert_eq!(steps("Distortion analysis does not cover all query_scope objects"), ".A..");
    assert_eq!(steps("Contradictory evidence: severe blur but high scores"), "DASX");
    assert_eq!(steps("Something else is amiss"), "DASX");
    let unnamed = "How is the quality of the car?";
    let reasons = [("Distortion analysis does not cover all query_scope objects".to_owned(), planned(unnamed))];
    assert!(plan(unnamed, &[], false, &[], &registry, &[], &reasons).plan.distortion_detection);
}

#[test]
fn questions_as_people_ask_them() {
    check(&[
        (
            "Is the background of this image blurred due to shallow depth of field?",
            "IQA | background | background:Blurs | - | .A..",
        ),
        ("Is the person in the middle of the picture in focus?", "IQA | person | person:Blurs | - | .A.."),
        (
            "How would you evaluate the sharpness of the eyes of the cat?",
            "IQA | eyes | eyes:Blurs+Sharpness | - | .A..",
        ),
        (
            "Which part of the picture has the most obvious noise?",
            "IQA | upper left,upper center,upper right,center left,center,center right,\
             lower left,lower center,lower right | \
             center:Noise,center left:Noise,center right:Noise,\
             lower center:Noise,lower left:Noise,lower right:Noise,upper center:Noise,upper left:Noise,upper right:Noise | - | .A..",
        ),
        ("Are the colors of the flowers in this picture vivid?", "IQA | flowers | flowers:Color | - | .A.."),
        ("Is the image underexposed or overexposed?", "IQA | Global | Global:Brightness | - | .ASX"),
        ("Please tell me if the little girl's dress is oversaturated.", "IQA | dress | dress:Color | - | .A.."),
        (
            "Are there compression artifacts around the edges of the letters?",
            "IQA | letters | letters:Compression | - | .A..",
        ),
        ("Is the woman's hat or the man's jacket sharper?", "IQA | hat,jacket | hat:Blurs,jacket:Blurs | - | .A.."),
        ("Is the tablecloth in focus?", "IQA | tablecloth | tablecloth:Blurs | - | .A.."),
        ("I think the photo looks weird. What is wrong with it?", "IQA | Global | - | - | DASX"),
        ("What is the SSIM between the two images?", "IQA | Global | - | SSIM | DA.X"),
        ("Is the image free of noise?", "IQA | Global | Global:Noise | - | .ASX"),
        ("Would you say the quality of the leaves is acceptable?", "IQA | leaves | - | - | DA.."),
        ("Tell me about the technical quality of the ship and the water.", "IQA | ship,water | - | - | DA.."),
        ("图中左侧的建筑是否存在运动模糊？", "IQA | 建筑 | 建筑:Blurs | - | .A.."),
        ("这张照片的噪声严重吗", "IQA | Global | Global:Noise | - | .ASX"),
        ("画面中的文字能看清吗？", "IQA | 文字 | 文字:Blurs | - | .A.."),
        ("咖啡机看起来模糊吗？", "IQA | 咖啡机 | 咖啡机:Blurs | - | .A.."),
        ("这张图给人什么感觉？", "Other | Global | - | - | ...."),
        ("哪个物体最清晰？\nA. 猫\nB. 沙发", "IQA | 猫,沙发 | 沙发:Blurs,猫:Blurs | - | .A.."),
        ("用SSIM计算两张图的差异", "IQA | Global | - | SSIM | DA.X"),
    ]);
}

#[test]
fn tools_of_the_users_are_known_by_name_and_words_of_quality_stay_words() {
    use agenticiqa_tools::{ToolList, ToolResources};
    let own = r#"{"type": "NR", "strengths": [], "lower_is_better": true, "range": [0, 1], "backend": "command",
                  "command": {"run": ["sh", "{image}"]}}"#;
    let mut list = ToolList::builtin().unwrap();
    list.add("MyTool", serde_json::from_str(own).unwrap());
    list.add("blur", serde_json::from_str(own).unwrap());
    list.add("noise-net", serde_json::from_str(own).unwrap());
    let registry = Registry::from_list(list, &ToolResources::default()).unwrap();
    let tools = |query: &str| plan(query, &[], false, &[], &registry, &[], &[]).required_tools().join(",");
    assert_eq!(tools("Score it with MyTool."), "MyTool");
    assert_eq!(tools("score the photo with my-tool and Noise Net"), "MyTool,noise-net");
    assert_eq!(tools("How strong is the noise?"), "");
    assert_eq!(tools("Is there any blur?"), "");
    assert_eq!(tools("Run the blur metric."), "Blur");
}
