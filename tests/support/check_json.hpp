#pragma once

#include <nlohmann/json.hpp>

/// As CHECK_EQ for JSON, which CAF's own cannot print: the texts are compared, members sorted by key.
#define CHECK_JSON(left, right) CHECK_EQ(nlohmann::json(left).dump(), nlohmann::json(right).dump())
