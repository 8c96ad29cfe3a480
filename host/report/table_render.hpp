#pragma once
#include <string>

#include "report/format.hpp"
#include "report/table_model.hpp"

namespace gnnbench {

/// Columns that the text form fits: 100, or as many as a narrower terminal has.
std::size_t table_width();

/// Text fits table_width() columns, continuing in further blocks below. HTML is a complete page.
std::string render(const Table& table, OutputFormat format);

/// Groups of a table that stand beside one another, after its keys, in `width` columns of text: the first group of each block
/// of them.
std::vector<std::size_t> first_groups(const Table& table, std::size_t width);

std::string table_text(const Table& table);
std::string table_markdown(const Table& table);
/// booktabs; a `table` environment with its notes below.
std::string table_latex(const Table& table);
/// A <figure>, to be put on a page; groups that a page of 1,280 pixels has no room for continue in a further table.
std::string table_html(const Table& table);
/// The records of all cells, one a row.
std::string table_csv(const Table& table);
std::string table_json(const Table& table);

}  // namespace gnnbench
