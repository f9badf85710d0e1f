-- The order of `cardscope rank --own --test "SEQ1M Q8T1 read"`, over the tables `figures` and `cards`.
WITH measured AS (
    -- Each card under each setting: the mean of its counted runs. What a page cache answered says nothing about a card.
    SELECT card_id, setting, size_bytes, state, step,
           COUNT(*) AS runs, AVG(mb_s) AS mean, MIN(place) AS place
    FROM figures
    WHERE counted AND test = 'SEQ1M Q8T1 read' AND LOWER(COALESCE(step, '')) NOT LIKE '%cache%'
    GROUP BY card_id, setting, size_bytes, state, step
), nearest AS (
    -- Of several settings the largest test area, then a card in use, then the most runs.
    SELECT *, ROW_NUMBER() OVER (
        PARTITION BY card_id
        ORDER BY COALESCE(size_bytes, 0) DESC,
                 CASE WHEN state IN ('used', 'overwritten') THEN 0 ELSE 1 END,
                 runs DESC, setting, place
    ) AS choice
    FROM measured
)
SELECT c.card_id, c.title, ROUND(n.mean, 9) AS mb_s, n.runs, c.price, c.currency
FROM nearest n
JOIN cards c ON c.card_id = n.card_id
WHERE n.choice = 1 AND c.excluded IS NULL
ORDER BY mb_s DESC, LOWER(c.title), c.card_id
