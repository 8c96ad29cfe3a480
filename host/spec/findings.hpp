#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/error.hpp>

namespace gnnbench {

/// Where something in an experiment was written. `origin` is a file, or "--set key=value"; lines and
/// columns count from 1 and are 0 where there are none.
struct Place {
    std::string origin;
    int line = 0, column = 0;
    bool operator==(const Place&) const = default;
};
std::string to_text(const Place& place);

/// One thing wrong in an experiment: where, at which key ("train.lr"; may be empty), and a sentence.
struct Finding {
    Place place;
    std::string key;
    std::string message;
    bool operator==(const Finding&) const = default;
};
/// "exp.yaml:3:9: train.lr: expected …"
std::string to_text(const Finding& finding);

/// An invalid experiment file: all its errors, in the order of the file.
class ExperimentError : public SpecError {
public:
    explicit ExperimentError(std::vector<Finding> findings);
    ~ExperimentError() override;
    const std::vector<Finding>& findings() const { return findings_; }

private:
    std::vector<Finding> findings_;
};

/// Collects findings, so that reading a file once reports all its errors.
class Findings {
public:
    void add(const Place& place, std::string key, std::string message);
    bool empty() const { return findings_.empty(); }
    /// Throws ExperimentError if there are any; of more than a hundred, how many more.
    void raise() const;

private:
    static constexpr std::size_t most_findings = 100;  // nobody reads more, and a hostile file may have a million
    std::vector<Finding> findings_;
    std::int64_t left_out_ = 0;
};

/// "allowed: a, b, c; did you mean 'b'?"
std::string allowed_words(std::string_view found, std::span<const std::string> allowed);

}  // namespace gnnbench
