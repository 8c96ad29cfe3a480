#pragma once
#include <string>
#include <vector>

#include "spec/findings.hpp"
#include "spec/table_definition.hpp"

namespace gnnbench {

/// A row of a published.csv.
struct PublishedRow {
    int line = 0;
    std::string table;  ///< "table-5-1": the stem of its definition
    Published value;
};

/// The columns of published.csv, in their order.
inline constexpr const char* published_columns = "table,row,column,value,unit,page,verbatim,erratum";

/// Rows of this name belong to no table: `row` is a dataset, `column` is "vertices", as the paper counts them.
inline constexpr const char* paper_graphs = "graphs";

/// `text`: CSV after RFC 4180; may be empty. Errors are added to `findings`.
std::vector<PublishedRow> read_published(const std::string& text, const std::string& origin, Findings& findings);

/// A row of a measured.csv.
struct CountedRow {
    int line = 0;
    std::string table;
    Counted value;
};
inline constexpr const char* measured_columns = "table,row,column,value,unit,dataset,gpus,of,command,date,commit";
std::vector<CountedRow> read_counted(const std::string& text, const std::string& origin, Findings& findings);

}  // namespace gnnbench
