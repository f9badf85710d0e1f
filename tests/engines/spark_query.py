"""Runs a query over an export with Apache Spark and prints its rows as JSON, with the number of executors that were there:
spark_query.py spark://MASTER FOLDER FILE.sql|QUERY"""

import json
import sys
import time

from pyspark.sql import SparkSession

master, folder, query = sys.argv[1:]
if query.endswith(".sql"):
    with open(query, encoding="utf-8") as file:
        query = file.read()
spark = (
    SparkSession.builder.master(master)
    .appName("cardscope")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "8")
    .config("spark.ui.enabled", "false")
    .config("spark.executor.memory", "600m")
    .getOrCreate()
)
tracker = spark.sparkContext._jsc.sc().statusTracker()
# The driver counts as one, and each worker gives one.
for _ in range(600):
    executors = len(tracker.getExecutorInfos()) - 1
    if executors >= 2:
        break
    time.sleep(0.1)
for table in ["sessions", "figures", "series", "findings", "cards"]:
    spark.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)
began = time.monotonic()
rows = [row.asDict() for row in spark.sql(query).collect()]
seconds = time.monotonic() - began
print(json.dumps({"rows": rows, "executors": executors, "seconds": seconds}, default=str))
spark.stop()
