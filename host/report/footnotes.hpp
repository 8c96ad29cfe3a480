#pragma once
#include <string>
#include <vector>

namespace gnnbench {

/// Letters for remarks, in order of first use: a, b … z, aa, ab …
class Footnotes {
public:
    /// The letter of `text`; the same text keeps its letter.
    std::string mark(const std::string& text);
    struct Note {
        std::string mark, text;
    };
    std::vector<Note> notes() const;

private:
    std::vector<std::string> texts_;
};

}  // namespace gnnbench
