#include "cli/gnnbench.hpp"

int main(int argc, char** argv) { return gnnbench::run_gnnbench(argc, argv); }
