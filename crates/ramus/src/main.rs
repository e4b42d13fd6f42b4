#[cfg_attr(not(test), expect(dead_code, reason = "the command around it comes next"))]
mod demo;

fn main() {}
