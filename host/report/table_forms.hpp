#pragma once
#include <string>

#include "report/layout.hpp"

namespace gnnbench {

std::string comparison_text(const ComparisonData& data, const ComparisonLayout& layout);
std::string comparison_markdown(const ComparisonData& data, const ComparisonLayout& layout);
std::string comparison_csv(const ComparisonData& data, const ComparisonLayout& layout);
std::string comparison_json(const ComparisonData& data, const ComparisonLayout& layout);

/// "over serial on 1 gpu": what speed-ups are relative to.
std::string baseline_words(const ComparisonLayout& layout);

}  // namespace gnnbench
