"""Runs a query over an export with DuckDB and prints its rows as JSON: duckdb_query.py FOLDER FILE.sql|QUERY"""

import json
import sys

import duckdb

folder, query = sys.argv[1:]
if query.endswith(".sql"):
    with open(query, encoding="utf-8") as file:
        query = file.read()
for table in ["sessions", "figures", "series", "findings", "cards"]:
    files = f"{folder}/{table}/**/*.parquet".replace("'", "''")
    duckdb.sql(f"CREATE VIEW {table} AS FROM read_parquet('{files}', hive_partitioning = true)")
answer = duckdb.sql(query)
print(json.dumps([dict(zip(answer.columns, row)) for row in answer.fetchall()], default=str))
