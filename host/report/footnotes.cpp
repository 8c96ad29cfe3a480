#include "report/footnotes.hpp"

#include <algorithm>

#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

std::string letters(std::size_t i) {
    std::string text(1, static_cast<char>('a' + i % 26));
    return i < 26 ? text : letters(i / 26 - 1) + text;
}

}  // namespace

std::string Footnotes::mark(const std::string& text) {
    const auto known = std::find(texts_.begin(), texts_.end(), text);
    const auto i = usize(known - texts_.begin());
    if (known == texts_.end()) texts_.push_back(text);
    return letters(i);
}

std::vector<Footnotes::Note> Footnotes::notes() const {
    std::vector<Note> all;
    for (std::size_t i = 0; i < texts_.size(); ++i) all.push_back({letters(i), texts_[i]});
    return all;
}

}  // namespace gnnbench
